import { Duplex } from 'node:stream';
import type { PeerCertificate, TLSSocket } from 'node:tls';

/** The stream on the other side of the bridge. */
export interface BridgeEnd {
  /** The server reads on. */
  wanted(): void;
  /** Bytes of the answer. Throws when they are not valid. `taken`: more can follow. */
  answer(bytes: Buffer, taken: () => void): void;
  /** The answer is complete. Throws when it is not. */
  answered(): void;
  /** The connection is closed. */
  dropped(): void;
  /** Code of the server wrote what cannot be sent. */
  failed(error: unknown): void;
  /**
   * The server closes connections that it takes for idle. It means those whose answer is written, also when the client has not read it yet, and a
   * stream is never idle.
   */
  readonly kept: boolean;
}

/**
 * The connection that Node's HTTP/1.1 server sees of one stream: in memory, for one request. Addresses and certificates are those of the
 * client's connection.
 */
export class BridgeSocket extends Duplex {
  readonly #end: BridgeEnd;
  readonly #tls: TLSSocket;
  /** As with `TLSSocket`. */
  readonly encrypted = true;

  constructor(end: BridgeEnd, tls: TLSSocket) {
    super({ allowHalfOpen: true });
    this.#end = end;
    this.#tls = tls;
  }

  get remoteAddress(): string | undefined {
    return this.#tls.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.#tls.remotePort;
  }

  get localAddress(): string | undefined {
    return this.#tls.localAddress;
  }

  get localPort(): number | undefined {
    return this.#tls.localPort;
  }

  get authorized(): boolean {
    return this.#tls.authorized;
  }

  get authorizationError(): Error | null {
    return this.#tls.authorizationError;
  }

  getPeerX509Certificate(): ReturnType<TLSSocket['getPeerX509Certificate']> {
    return this.#tls.getPeerX509Certificate();
  }

  getPeerCertificate(): PeerCertificate {
    return this.#tls.getPeerCertificate();
  }

  /** As with `Socket`: closes when everything is written. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  override _read(): void {
    this.#end.wanted();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#attempt(() => this.#end.answer(chunk, () => done()), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#attempt(() => {
      this.#end.answered();
      done();
    }, done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#end.dropped();
    done(error);
  }

  override destroy(error?: Error): this {
    return this.#end.kept ? this : super.destroy(error);
  }

  #attempt(step: () => void, done: (error: Error) => void): void {
    try {
      step();
    } catch (error) {
      this.#end.failed(error);
      done(error as Error);
    }
  }
}
