import type { ResponseContext } from '../../plugin-sdk/contexts.ts';
import { WebBody } from './web-body.ts';
import { webHeaders } from './web-headers.ts';

let isLinked = false;

/**
 * The buffered response of the backend as a `Response` of the web platform, in the `response` phase. Headers and body are made
 * when they are first read. It is a view: to change the response, use `context.response`, or return `replyFrom` of a new one.
 *
 * The body is as the plugin before this one left it, without its content coding.
 *
 * @example
 * async response(context: ResponseContext) {
 *   return replyFrom(await handler(webRequest(context), webResponse(context)));
 * }
 */
export function webResponse(context: ResponseContext): Response {
  if (!isLinked) {
    Object.setPrototypeOf(WebResponse.prototype, Response.prototype);
    isLinked = true;
  }
  return new WebResponse(context) as unknown as Response;
}

class WebResponse {
  readonly #context: ResponseContext;
  #headers: Headers | null = null;
  #body: WebBody | null = null;

  constructor(context: ResponseContext) {
    this.#context = context;
  }

  get status(): number {
    return this.#context.response.status;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status <= 299;
  }

  /** The gateway writes the standard phrase of the status. */
  get statusText(): string {
    return '';
  }

  get headers(): Headers {
    this.#headers ??= webHeaders(this.#context.response);
    return this.#headers;
  }

  get type(): 'default' {
    return 'default';
  }

  get url(): string {
    return '';
  }

  get redirected(): boolean {
    return false;
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
  clone(): Response {
    if (this.bodyUsed) throw new TypeError('the body has been read');
    return webResponse(this.#context);
  }

  #bodyOf(): WebBody {
    if (this.#body === null) {
      const { response } = this.#context;
      const read = response.body().byteLength === 0 ? null : async () => response.body();
      this.#body = new WebBody(read, () => response.header('content-type'));
    }
    return this.#body;
  }
}
