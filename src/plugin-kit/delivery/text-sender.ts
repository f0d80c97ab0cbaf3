import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { trustedAuthorities } from '../auth/authorities.ts';

export interface TextSenderOptions {
  /** Name or address and port, or the path of a Unix stream socket. */
  readonly to: { readonly host: string; readonly port: number } | { readonly path: string };
  /** Null: none. */
  readonly tls: TextSenderTls | null;
  /** Milliseconds for the connection, DNS and TLS included, and for each write. */
  readonly timeout: number;
  /** Milliseconds for which an idle connection is kept; 0: as long as the receiver keeps it. */
  readonly keepalive: number;
  /** First bytes of each connection. Default: none. */
  readonly greeting?: string;
}

export interface TextSenderTls {
  /** Name for SNI and for the check of the certificate; null: the host. */
  readonly serverName: string | null;
  /** True: the receiver needs a certificate of a trusted authority. */
  readonly verify: boolean;
  /** PEM file of the authorities to trust; null: the built-in ones. */
  readonly trustedCertificates: string | null;
}

/** Sends texts over one connection, opened on demand, to a receiver that does not respond. */
export interface TextSender {
  /**
   * `text`: a byte array has it in UTF-8. Resolves once the system has taken the whole text, which is as much as can be known: what is in flight when the receiver
   * closes the connection is lost. Rejects without a connection in time, when it breaks, or when the receiver stops reading; a
   * part of the text may have arrived then.
   */
  send(text: string | Uint8Array, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Maximum bytes that a receiver may send on one connection. */
const maxAnswered = 65_536;

/** Opens a sender. A file of authorities that cannot be read fails each delivery: it must not stop the traffic. */
export function textSender(options: TextSenderOptions): TextSender {
  return new ConnectedSender(options);
}

class ConnectedSender implements TextSender {
  readonly #options: TextSenderOptions;
  /** Made with the first connection: reading many authorities takes longer than the rest of `setup`. */
  #secureContext: SecureContext | null = null;
  #connection: Promise<Socket> | null = null;
  readonly #open = new Set<Socket>();
  /** Texts not yet passed to the operating system. */
  #underWay = 0;
  #closed = false;

  constructor(options: TextSenderOptions) {
    this.#options = options;
  }

  async send(text: string | Uint8Array, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#connection ??= this.#connect();
    await this.#write(await this.#connection, text, signal);
  }

  #write(socket: Socket, text: string | Uint8Array, signal: AbortSignal): Promise<void> {
    const { timeout, keepalive } = this.#options;
    const abort = (): void => void socket.destroy(new Error('aborted'));
    signal.addEventListener('abort', abort, { once: true });
    this.#underWay++;
    // While the receiver reads some of it in each period, the socket stays open.
    socket.setTimeout(timeout);
    return new Promise((resolve, reject) => {
      socket.write(text, (error) => {
        signal.removeEventListener('abort', abort);
        this.#underWay--;
        if (this.#underWay === 0) socket.setTimeout(keepalive);
        // The cause, not the failed write that followed from it.
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
      if (answered > maxAnswered) socket.destroy(new Error('the receiver answers, which none should'));
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
