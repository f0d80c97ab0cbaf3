import { readFileSync } from 'node:fs';
import type { ClientRequest, Agent as PlainAgent } from 'node:http';
import { request as secureRequest, Agent as TlsAgent } from 'node:https';

/** An import would load undici. */
const nodeHttp = process.getBuiltinModule('node:http');

export interface Copy {
  readonly method: string;
  /** Path and query, beginning with a slash. */
  readonly target: string;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: Uint8Array | null;
}

export interface MirrorOptions {
  readonly url: string;
  readonly timeout: number;
  readonly maxInFlight: number;
  readonly verify: boolean;
  /** PEM file of authorities; null: the built-in ones. */
  readonly authorities: string | null;
  readonly failed: (error: Error) => void;
}

/** Bytes of a response that are read to keep the connection. */
const maxAnswerBytes = 65_536;

/** Sends copies: responses are discarded, failures only reported. No request waits for a copy. */
export class Mirror {
  readonly #options: MirrorOptions;
  readonly #url: URL;
  readonly #agent: PlainAgent | TlsAgent;
  readonly #prefix: string;
  #inFlight = 0;

  constructor(options: MirrorOptions) {
    const { url, verify, authorities } = options;
    this.#options = options;
    this.#url = new URL(url);
    this.#prefix = this.#url.pathname.replace(/\/$/, '');
    const pool = { keepAlive: true, maxFreeSockets: 16, timeout: options.timeout };
    const ca = authorities === null ? {} : { ca: readFileSync(authorities) };
    this.#agent =
      this.#url.protocol === 'https:'
        ? new TlsAgent({ ...pool, ...ca, rejectUnauthorized: verify })
        : new nodeHttp.Agent(pool);
  }

  /** False: too many copies are in flight. */
  send(copy: Copy): boolean {
    if (this.#inFlight >= this.#options.maxInFlight) return false;
    this.#inFlight++;
    let request: ClientRequest;
    try {
      request = this.#open(copy);
    } catch (error) {
      this.#inFlight--;
      this.#options.failed(error as Error);
      return true;
    }
    const timer = setTimeout(() => request.destroy(new Error('time-out')), this.#options.timeout).unref();
    request.on('close', () => {
      clearTimeout(timer);
      this.#inFlight--;
    });
    request.on('error', (error) => this.#options.failed(error));
    request.on('response', (response) => {
      let bytes = 0;
      response.on('data', (piece: Buffer) => {
        bytes += piece.byteLength;
        if (bytes > maxAnswerBytes) request.destroy();
      });
      // The response to a copy is discarded, complete or not.
      response.on('error', () => {});
    });
    request.end(copy.body ?? undefined);
    return true;
  }

  close(): void {
    this.#agent.destroy();
  }

  #open({ method, target, headers, body }: Copy): ClientRequest {
    const secure = this.#url.protocol === 'https:';
    const { hostname, port, host } = this.#url;
    const lines = body === null ? { ...headers } : { ...headers, 'content-length': [String(body.byteLength)] };
    return (secure ? secureRequest : nodeHttp.request)({
      method,
      host: hostname.replace(/^\[|\]$/g, ''),
      ...(port === '' ? {} : { port }),
      path: this.#prefix + target,
      headers: { ...(lines as Record<string, string[]>), host },
      agent: this.#agent,
    });
  }
}
