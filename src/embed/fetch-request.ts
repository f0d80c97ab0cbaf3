import { isIP } from 'node:net';
import { serveOutside } from '../data/embedded/outside-exchange.ts';
import type { OutsideAnswer, OutsideAnswerHead, OutsideClient } from '../data/embedded/outside-request.ts';
import type { DataPlane } from '../data/request/data-plane.ts';
import { plainIp } from '../shared/util/net/plain-ip.ts';
import type { FetchClient } from './gateway.ts';
import { headText, pairsOf } from './request-head.ts';

type Serving = ReturnType<typeof serveOutside>;

/** Bytes of an answer that wait for its reader before the backend is paused. */
const highWaterMark = 64 * 1024;
/** Statuses for which a `Response` accepts no body. */
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304]);

/** `gateway.fetch`. */
export function fetchThrough(plane: DataPlane, request: Request, client: FetchClient): Promise<Response> {
  const { signal } = request;
  if (signal.aborted) return Promise.reject(signal.reason);
  const url = new URL(request.url);
  const answer = new FetchAnswer(request);
  const pairs = [...request.headers].flat();
  if (!request.headers.has('host')) pairs.unshift('Host', url.host);
  const unframed =
    request.body !== null && !request.headers.has('content-length') && !request.headers.has('transfer-encoding');
  const head = headText(
    request.method,
    url.pathname + url.search,
    pairs,
    unframed ? 'Transfer-Encoding: chunked\r\n' : '',
  );
  const serving = serveOutside(plane, { head, client: outsideClient(url, client) }, answer);
  answer.served(serving);
  return answer.response;
}

function outsideClient(url: URL, { address = '127.0.0.1', port = 0 }: FetchClient): OutsideClient {
  if (isIP(address) === 0) throw new TypeError(`fetch: '${address}' is not an IP address`);
  const isTls = url.protocol === 'https:';
  const localPort = url.port === '' ? (isTls ? 443 : 80) : Number(url.port);
  return {
    ip: plainIp(address),
    port,
    localIp: '127.0.0.1',
    localPort,
    scheme: isTls ? 'https' : 'http',
    tls: null,
  };
}

/** The answer as a `Response`, whose body is read as fast as its reader takes it. */
class FetchAnswer implements OutsideAnswer {
  readonly response: Promise<Response>;
  readonly #request: Request;
  readonly #resolve: (response: Response) => void;
  readonly #reject: (error: unknown) => void;
  #serving: Serving | null = null;
  #body: ReadableStreamDefaultController<Uint8Array> | null = null;
  #waiting = false;
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  #paused = false;
  #pumping = false;
  #ended = false;
  #removeListener = (): void => {};

  constructor(request: Request) {
    this.#request = request;
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    this.response = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  served(serving: Serving): void {
    this.#serving = serving;
    if (this.#ended) return;
    const { signal } = this.#request;
    const aborted = (): void => this.#cancel(signal.reason);
    signal.addEventListener('abort', aborted, { once: true });
    this.#removeListener = () => signal.removeEventListener('abort', aborted);
    if (this.#reader !== null) void this.#pump();
  }

  head({ status, reason, lines, contentLength, hasBody }: OutsideAnswerHead): void {
    const headers = new Headers();
    const pairs = pairsOf(lines);
    for (let at = 0; at + 1 < pairs.length; at += 2) headers.append(pairs[at] as string, pairs[at + 1] as string);
    if (contentLength >= 0) headers.set('Content-Length', String(contentLength));
    const body = hasBody && !withoutBody.has(status) ? this.#stream() : null;
    try {
      this.#resolve(new Response(body, { status, statusText: reason, headers }));
    } catch (error) {
      // Such as a status above 599.
      this.#cancel(error);
    }
  }

  #stream(): ReadableStream<Uint8Array> {
    const source = {
      start: (controller: ReadableStreamDefaultController<Uint8Array>) => {
        this.#body = controller;
      },
      pull: () => {
        if (!this.#waiting) return;
        this.#waiting = false;
        this.#serving?.drained();
      },
      cancel: () => this.#cancel(null),
    };
    return new ReadableStream(source, { highWaterMark, size: (piece) => piece?.byteLength ?? 0 });
  }

  body(bytes: Uint8Array, start: number, end: number): boolean {
    const controller = this.#body;
    if (controller === null) return true;
    controller.enqueue(bytes.slice(start, end));
    this.#waiting = (controller.desiredSize ?? 1) <= 0;
    return !this.#waiting;
  }

  end(): void {
    this.#finish();
    this.#body?.close();
    this.#body = null;
  }

  flush(): void {}

  abort(): void {
    this.#fail(new TypeError('the gateway has broken the answer off'));
  }

  readBody(): void {
    this.#paused = false;
    this.#reader ??= this.#request.body?.getReader() ?? null;
    if (this.#serving !== null) void this.#pump();
  }

  pauseBody(): void {
    this.#paused = true;
  }

  async #pump(): Promise<void> {
    const reader = this.#reader;
    if (reader === null || this.#pumping) return;
    this.#pumping = true;
    try {
      while (!this.#paused && !this.#ended) {
        const { done, value } = await reader.read();
        if (this.#ended) break;
        if (done) {
          this.#serving?.ended();
          return;
        }
        this.#serving?.received(value);
      }
    } catch (error) {
      this.#cancel(error);
    } finally {
      this.#pumping = false;
    }
  }

  /** The caller does not want the answer any more, or cannot send its body. */
  #cancel(reason: unknown): void {
    if (this.#ended) return;
    this.#fail(reason ?? new DOMException('the answer was cancelled', 'AbortError'));
    this.#serving?.aborted();
  }

  #fail(error: unknown): void {
    if (this.#ended) return;
    this.#finish();
    this.#reject(error);
    this.#body?.error(error);
    this.#body = null;
  }

  #finish(): void {
    this.#ended = true;
    this.#removeListener();
    this.#reader?.cancel().catch(() => {});
  }
}
