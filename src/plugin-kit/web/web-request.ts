import type { AccessContext, BaseContext } from '../../plugin-sdk/contexts.ts';
import { escapePath } from '../../shared/http/path.ts';
import { WebBody } from './web-body.ts';
import { webHeaders } from './web-headers.ts';

let isLinked = false;

/**
 * The request of the client as a `Request` of the web platform, for handlers that are written for it. The URL, the headers and
 * the body are made when they are first read; the method costs nothing.
 *
 * - `url` has the scheme, the `Host` of the client, the normalised path that routes are matched against, and the query. Without
 *   a `Host` that a URL can have, it has the address that the client connected to.
 * - The body needs `needs.requestBody`, and can be read in `access` only; it has no content coding (gzip, deflate, br, zstd). A body
 *   that is too large or broken is answered as `decodedBody` says, and the handler need not catch the rejection.
 * - `signal` is never aborted.
 *
 * It is a view and no `Request` of undici: pass `fetch` and `new Request` its parts (`new Request(request.url, request)`).
 *
 * @example
 * async access(context: AccessContext) {
 *   return replyFrom(await app.fetch(webRequest(context)));
 * }
 */
export function webRequest(context: BaseContext | AccessContext): Request {
  if (!isLinked) {
    // So that `instanceof Request` is true. Not at the import: the first use of `Request` loads undici.
    Object.setPrototypeOf(WebRequest.prototype, Request.prototype);
    isLinked = true;
  }
  return new WebRequest(context) as unknown as Request;
}

class WebRequest {
  readonly #context: BaseContext | AccessContext;
  #url: string | null = null;
  #headers: Headers | null = null;
  #body: WebBody | null = null;
  #signal: AbortSignal | null = null;

  constructor(context: BaseContext | AccessContext) {
    this.#context = context;
  }

  get method(): string {
    return this.#context.request.method;
  }

  get url(): string {
    this.#url ??= urlOf(this.#context);
    return this.#url;
  }

  get headers(): Headers {
    this.#headers ??= webHeaders(this.#context.request);
    return this.#headers;
  }

  get body(): ReadableStream | null {
    return this.#bodyOf().holder.body;
  }

  get bodyUsed(): boolean {
    return this.#body?.isUsed ?? false;
  }

  text(): Promise<string> {
    return this.#bodyOf().holder.text();
  }

  json(): Promise<unknown> {
    return this.#bodyOf().holder.json();
  }

  bytes(): Promise<Uint8Array> {
    return this.#bodyOf().holder.bytes();
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#bodyOf().holder.arrayBuffer();
  }

  blob(): Promise<unknown> {
    return this.#bodyOf().holder.blob();
  }

  formData(): Promise<unknown> {
    return this.#bodyOf().holder.formData();
  }

  /** @throws TypeError once the body was read. */
  clone(): Request {
    if (this.bodyUsed) throw new TypeError('the body has been read');
    return webRequest(this.#context);
  }

  get signal(): AbortSignal {
    this.#signal ??= new AbortController().signal;
    return this.#signal;
  }

  get duplex(): 'half' {
    return 'half';
  }

  // What a Request that a server received has for the rest.
  get cache(): 'default' {
    return 'default';
  }
  get credentials(): 'same-origin' {
    return 'same-origin';
  }
  get destination(): '' {
    return '';
  }
  get integrity(): string {
    return '';
  }
  get keepalive(): boolean {
    return false;
  }
  get mode(): 'cors' {
    return 'cors';
  }
  get redirect(): 'manual' {
    return 'manual';
  }
  get referrer(): string {
    return 'about:client';
  }
  get referrerPolicy(): '' {
    return '';
  }
  get isReloadNavigation(): boolean {
    return false;
  }
  get isHistoryNavigation(): boolean {
    return false;
  }
  get attribute(): null {
    return null;
  }

  #bodyOf(): WebBody {
    if (this.#body === null) {
      const context = this.#context;
      const read = context.request.bodyLength === 0 ? null : () => bodyOf(context);
      this.#body = new WebBody(read, () => context.request.header('content-type'));
    }
    return this.#body;
  }
}

async function bodyOf(context: BaseContext | AccessContext): Promise<Uint8Array> {
  if (!('decodedBody' in context)) throw new TypeError('the request body can be read in access only');
  return context.decodedBody();
}

function urlOf({ request, connection }: BaseContext): string {
  const query = request.query === '' ? '' : `?${request.query}`;
  const target = escapePath(request.path) + query;
  const host = request.header('host') ?? request.host;
  const asSent = host === '' ? null : URL.parse(`${request.scheme}://${host}${target}`);
  if (asSent !== null) return asSent.href;
  const { localIp, localPort } = connection;
  const address = localIp.includes(':') ? `[${localIp}]` : localIp;
  return new URL(`${request.scheme}://${address}:${localPort}${target}`).href;
}
