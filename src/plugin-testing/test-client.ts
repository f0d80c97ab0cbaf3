import type { Downstream, Exchange } from '../data/request/exchange.ts';
import { headerMap } from '../shared/http/header-block.ts';

/** What the client received. */
export interface TestResponse {
  readonly status: number;
  /** Lower-case names, values in order. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  /** As UTF-8. */
  readonly body: string;
  readonly bytes: Buffer;
  /** `gateway`: a plugin or the gateway replied. */
  readonly source: 'upstream' | 'gateway';
  /** False: the transfer was aborted. */
  readonly complete: boolean;
  /** First value of a header, any case, or null. */
  header(name: string): string | null;
}

/** The client of an exchange without a socket: it keeps what it receives. */
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

  /** Resolves at the end of the response; rejects with an unexpected exception of a plugin. */
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
