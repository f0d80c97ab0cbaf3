import type { Downstream } from '../../dataplane/downstream.ts';
import type { Exchange } from '../../dataplane/exchange.ts';
import { headerMap } from '../../http1/header-block.ts';

/** What the client received. */
export interface TestResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: string;
  readonly bytes: Buffer;
  /** `gateway`: a plugin answered. */
  readonly source: 'upstream' | 'gateway';
  /** False: the transfer was broken off. */
  readonly complete: boolean;
  /** First value of a header, any case, or null. */
  header(name: string): string | null;
}

/** The client's side of an exchange without a socket: it keeps what it is sent. */
export class TestClient implements Downstream {
  readonly bodyComplete = true;
  #pieces: Buffer[] = [];
  #headers: Readonly<Record<string, readonly string[]>> = {};
  #status = 0;
  #source: 'upstream' | 'gateway' = 'gateway';
  #complete = false;
  readonly #ended = Promise.withResolvers<void>();

  sendHead(exchange: Exchange): void {
    exchange.headSent = true;
    this.#status = exchange.status;
    this.#source = exchange.responseSource;
    this.#headers = headerMap(exchange.responseEdits?.applyTo(exchange.responseBlock) ?? exchange.responseBlock);
  }

  sendBody(exchange: Exchange, bytes: Uint8Array, start: number, end: number): boolean {
    this.#pieces.push(Buffer.copyBytesFrom(bytes, start, end - start));
    exchange.bytesSent += end - start;
    return true;
  }

  sendEnd(): void {
    this.#complete = true;
    this.#ended.resolve();
  }

  /** Resolves with the end of the answer, rejects when something failed that nobody expected. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  get done(): boolean {
    return this.#complete;
  }

  fail(error: unknown): void {
    this.#ended.reject(error);
  }

  flush(): void {}
  sendInformational(): void {}
  abort(): void {
    this.#ended.resolve();
  }
  startBody(): void {}
  limitBody(): void {}
  pauseBody(): void {}
  resumeBody(): void {}
  startTunnel(): void {}

  response(): TestResponse {
    const headers = this.#headers;
    return {
      status: this.#status,
      headers,
      body: Buffer.concat(this.#pieces).toString('utf8'),
      bytes: Buffer.concat(this.#pieces),
      source: this.#source,
      complete: this.#complete,
      header: (name) => headers[name.toLowerCase()]?.[0] ?? null,
    };
  }
}
