import { isIP, connect as plainConnect, type Socket } from 'node:net';
import { type ConnectionOptions, connect as tlsConnect } from 'node:tls';
import {
  bindAnswer,
  bindRequest,
  extendedAnswer,
  type LdapAnswer,
  readAnswer,
  startTlsRequest,
  unbindRequest,
} from './ldap-messages.ts';

export interface LdapServer {
  readonly host: string;
  readonly port: number;
  /** How the connection uses TLS. */
  readonly tls: 'none' | 'from-the-start' | 'start-tls';
  /** The certificate must be valid for the host. */
  readonly verify: boolean;
  /** PEM of the authorities that are trusted; null: the built-in ones. */
  readonly authorities: string | null;
}

interface Waiting {
  readonly id: number;
  readonly operation: number;
  readonly resolve: (answer: LdapAnswer) => void;
  readonly reject: (error: Error) => void;
}

const nothing = Buffer.alloc(0);
const lastId = 2 ** 31 - 1;

/**
 * A connection to an LDAP server, for one bind after the other. It has no timeouts of its own: the caller
 * calls `destroy` when it takes too long. Anything unexpected from the server ends it.
 */
export class LdapConnection {
  /** Resolves when binds may be sent. */
  readonly ready: Promise<void>;
  readonly #server: LdapServer;
  #socket: Socket;
  #received: Buffer = nothing;
  #waiting: Waiting | null = null;
  #failure: Error | null = null;
  #lastId = 0;
  #ended: () => void = () => {};

  constructor(server: LdapServer) {
    this.#server = server;
    const { host, port, tls } = server;
    const secure = tls === 'from-the-start';
    this.#socket = secure ? tlsConnect({ ...this.#tlsOptions(), port }) : plainConnect({ host, port, noDelay: true });
    const connected = this.#watch(secure ? 'secureConnect' : 'connect');
    this.ready = tls === 'start-tls' ? connected.then(() => this.#startTls()) : connected;
    // `ready` and the waiting bind report the error.
    this.ready.catch(() => {});
  }

  get usable(): boolean {
    return this.#failure === null;
  }

  /** Called once, when the connection ends while no request is pending. */
  whenEnded(ended: () => void): void {
    this.#ended = ended;
  }

  /** The server's response. Rejects when the connection ends before. */
  bind(name: string, password: Uint8Array): Promise<LdapAnswer> {
    const id = this.#nextId();
    return this.#request(bindRequest(id, name, password), id, bindAnswer);
  }

  /** Ends the connection with an unbind request. */
  close(): void {
    if (this.#failure !== null) return;
    this.#failure = new Error('the connection was closed');
    this.#socket.end(unbindRequest(this.#nextId()));
    this.#socket.setTimeout(1000, () => this.#socket.destroy());
  }

  destroy(reason: Error): void {
    this.#fail(reason);
  }

  /** RFC 4511, 4.14. Bytes after the response and before the TLS handshake would be trusted afterwards, so they end the connection. */
  async #startTls(): Promise<void> {
    const id = this.#nextId();
    const { resultCode, diagnostic } = await this.#request(startTlsRequest(id), id, extendedAnswer);
    if (resultCode !== 0) {
      this.#fail(new Error(`StartTLS was refused (${resultCode}) ${diagnostic}`.trim()));
      throw this.#failure;
    }
    const plain = this.#socket.removeAllListeners('data');
    this.#socket = tlsConnect({ ...this.#tlsOptions(), socket: plain });
    await this.#watch('secureConnect');
  }

  #tlsOptions(): ConnectionOptions {
    const { host, verify, authorities } = this.#server;
    return {
      host,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      rejectUnauthorized: verify,
      ...(authorities === null ? {} : { ca: authorities }),
      minVersion: 'TLSv1.2',
    };
  }

  #watch(opened: 'connect' | 'secureConnect'): Promise<void> {
    const socket = this.#socket;
    return new Promise((resolve, reject) => {
      const failed = (error: Error): void => {
        // After the upgrade, the TLS socket owns this socket.
        if (socket === this.#socket) this.#fail(error);
        reject(this.#failure ?? error);
      };
      socket.once(opened, () => resolve());
      socket.on('data', (data: Buffer) => this.#take(data));
      socket.on('error', failed);
      socket.on('close', () => failed(new Error('the server closed the connection')));
    });
  }

  #request(request: Buffer, id: number, operation: number): Promise<LdapAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== null) return reject(this.#failure);
      this.#waiting = { id, operation, resolve, reject };
      this.#socket.write(request);
    });
  }

  #take(data: Buffer): void {
    const waiting = this.#waiting;
    if (waiting === null) {
      this.#fail(new Error('the server sent an unexpected response'));
      return;
    }
    this.#received = this.#received.byteLength === 0 ? data : Buffer.concat([this.#received, data]);
    try {
      const answer = readAnswer(this.#received);
      if (answer === null) return;
      if (answer.id !== waiting.id || answer.operation !== waiting.operation) {
        throw new Error(`the server ends the connection (${answer.resultCode}) ${answer.diagnostic}`.trim());
      }
      if (answer.size !== this.#received.byteLength) throw new Error('the server sent more than its answer');
      this.#received = nothing;
      this.#waiting = null;
      waiting.resolve(answer);
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #fail(reason: Error): void {
    if (this.#failure !== null) return;
    this.#failure = reason;
    this.#received = nothing;
    this.#socket.destroy();
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.reject(reason);
    this.#ended();
  }

  #nextId(): number {
    this.#lastId = this.#lastId >= lastId ? 1 : this.#lastId + 1;
    return this.#lastId;
  }
}
