import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { trustedAuthorities } from './authorities.ts';

export interface TextSenderOptions {
  /** Name or address and port, or the path of a Unix socket that takes streams. */
  readonly to: { readonly host: string; readonly port: number } | { readonly path: string };
  /** Null: none. */
  readonly tls: TextSenderTls | null;
  /** Milliseconds until the connection is there, DNS and TLS included, and then without the receiver taking anything. */
  readonly timeout: number;
  /** Milliseconds that an idle connection is kept; 0: as long as the receiver keeps it. */
  readonly keepalive: number;
  /** What each connection begins with. Default: nothing. */
  readonly greeting?: string;
}

export interface TextSenderTls {
  /** For SNI, and to be found in the certificate; null: the host. */
  readonly serverName: string | null;
  /** Whether the receiver has to show a certificate of a trusted authority. */
  readonly verify: boolean;
  /** PEM file of the authorities to trust; null: the built-in ones. */
  readonly trustedCertificates: string | null;
}

/** Sends texts over one connection, which is opened when it is needed, to a receiver that answers nothing. */
export interface TextSender {
  /**
   * Resolves when the system has taken all of the text, which is as much as can be known: what was under way when the receiver went away is
   * lost. Rejects when there is no connection in time, it breaks, or the receiver stops taking; a part of the text may have arrived then.
   */
  send(text: string, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Bytes that a receiver may say on one connection. */
const mostAnswered = 65_536;

/** A file of authorities that cannot be read is an error of each delivery: it must not stop the traffic that is told of. */
export function textSender(options: TextSenderOptions): TextSender {
  return new ConnectedSender(options);
}

class ConnectedSender implements TextSender {
  readonly #options: TextSenderOptions;
  /** Made with the first connection: reading many authorities takes longer than all the rest. */
  #secureContext: SecureContext | null = null;
  #connection: Promise<Socket> | null = null;
  readonly #open = new Set<Socket>();
  /** Texts that the system has not taken yet. */
  #underWay = 0;
  #closed = false;

  constructor(options: TextSenderOptions) {
    this.#options = options;
  }

  async send(text: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#connection ??= this.#connect();
    await this.#write(await this.#connection, text, signal);
  }

  #write(socket: Socket, text: string, signal: AbortSignal): Promise<void> {
    const { timeout, keepalive } = this.#options;
    const abort = (): void => void socket.destroy(new Error('given up'));
    signal.addEventListener('abort', abort, { once: true });
    this.#underWay++;
    // As long as some of it is taken in each period, the socket goes on.
    socket.setTimeout(timeout);
    return new Promise((resolve, reject) => {
      socket.write(text, (error) => {
        signal.removeEventListener('abort', abort);
        this.#underWay--;
        if (this.#underWay === 0) socket.setTimeout(keepalive);
        // The cause, and not what the end of the connection did to this write.
        if (error) reject(socket.errored ?? error);
        else resolve();
      });
    });
  }

  #connect(): Promise<Socket> {
    if (this.#closed) return Promise.reject(new Error('closed'));
    const { timeout, tls, greeting } = this.#options;
    const socket = tls === null ? connectPlain(this.#address()) : this.#connectTls(tls);
    this.#open.add(socket);
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    const timer = setTimeout(() => socket.destroy(new Error('connect time-out')), timeout);
    socket.setNoDelay(true);
    socket.once(tls === null ? 'connect' : 'secureConnect', () => {
      clearTimeout(timer);
      if (greeting !== undefined) socket.write(greeting);
      resolve(socket);
    });
    let failure = new Error('the receiver has closed the connection');
    socket.on('error', (error) => {
      failure = error;
    });
    let answered = 0;
    socket.on('data', (data: Buffer) => {
      answered += data.length;
      if (answered > mostAnswered) socket.destroy(new Error('the receiver answers, which none should'));
    });
    const over = (): void => {
      if (this.#connection === promise) this.#connection = null;
    };
    socket.on('end', over);
    socket.on('timeout', () => {
      over();
      if (this.#underWay > 0) socket.destroy(new Error('the receiver takes nothing any more'));
      else socket.end();
    });
    socket.on('close', () => {
      clearTimeout(timer);
      over();
      this.#open.delete(socket);
      reject(failure);
    });
    return promise;
  }

  #address(): { readonly host: string; readonly port: number } | { readonly path: string } {
    const { to } = this.#options;
    return 'path' in to ? to : { host: to.host.replace(/^\[(.*)\]$/, '$1'), port: to.port };
  }

  #connectTls({ serverName, verify, trustedCertificates: file }: TextSenderTls): Socket {
    this.#secureContext ??= file === null ? createSecureContext() : trustedAuthorities(file)();
    const address = this.#address();
    const name = serverName ?? ('host' in address ? address.host : '');
    return connectTls({
      ...address,
      ...(isIP(name) === 0 ? { servername: name } : {}),
      rejectUnauthorized: verify,
      secureContext: this.#secureContext,
    });
  }

  close(): void {
    this.#closed = true;
    this.#connection = null;
    for (const socket of this.#open) socket.destroySoon();
  }
}
