import { type Reply, refuse } from '../../plugin-sdk/reply.ts';
import { utf8FromLatin1 } from '../../shared/util/bytes/latin1.ts';

export interface ReplyFromOptions {
  /** Maximum size of the body in bytes; a larger one is answered with 502. Default: 1 MiB. */
  readonly maxBytes?: number;
  /** Milliseconds for the whole body; a slower one is answered with 504. Default: 10,000. */
  readonly timeout?: number;
}

/**
 * The reply for a `Response` of the web platform, which a handler made or `fetch` returned. The gateway frames the message, so
 * headers such as `Content-Length` and `Connection` are left out, and `statusText` too. Each `Set-Cookie` stays a line of its own.
 * Of a response of `fetch`, whose body is decoded, `Content-Encoding` is left out.
 *
 * Header values are bytes, as in `fetch`. Bytes that are UTF-8 are sent as they are, others as the UTF-8 of the same text in
 * latin1; a control character becomes a space.
 *
 * @throws TypeError (rejects) for `Response.error()` and for a body that was read or is locked. Rejects with the error of a body that fails.
 *
 * @example
 * return replyFrom(Response.json({ ok: true }, { status: 201 }));
 */
export async function replyFrom(response: Response, options: ReplyFromOptions = {}): Promise<Reply> {
  if (response.bodyUsed || response.body?.locked === true)
    throw new TypeError('the body of the response has been read');
  if (response.type === 'error') throw new TypeError('a network error is not a response that can be sent');
  const { status } = response;
  const read = response.body === null ? null : await readBody(response.body, options);
  if (read === 'too large') return refuse(502, 'The response is too large');
  if (read === 'too slow') return refuse(504, 'The response took too long');
  if (status < 200 || status > 599) return refuse(502, 'The response has no status that can be sent');
  return { status, headers: headersOf(response), body: read, message: null };
}

function headersOf(response: Response): readonly (readonly [string, string])[] {
  const isDecoded = response.url !== '' && decodedByFetch.test(response.headers.get('content-encoding') ?? '');
  const pairs: (readonly [string, string])[] = [];
  for (const [name, value] of response.headers) {
    if (!(isDecoded && name === 'content-encoding')) pairs.push([name, utf8FromLatin1(value)]);
  }
  return pairs;
}

/** The codings that `fetch` of Node removes. */
const decodedByFetch =
  /^\s*(?:(?:x-)?gzip|(?:x-)?deflate|br|zstd)\s*(?:,\s*(?:(?:x-)?gzip|(?:x-)?deflate|br|zstd)\s*)*$/i;

async function readBody(
  stream: ReadableStream<Uint8Array>,
  { maxBytes = 1 << 20, timeout = 10_000 }: ReplyFromOptions,
): Promise<Uint8Array | 'too large' | 'too slow'> {
  const reader = stream.getReader();
  const slow = Promise.withResolvers<'too slow'>();
  const timer = setTimeout(() => slow.resolve('too slow'), timeout);
  try {
    const result = await Promise.race([collect(reader, maxBytes), slow.promise]);
    // Not awaited: a stream may never settle what it is asked to cancel.
    if (typeof result === 'string') void reader.cancel(result).catch(() => undefined);
    return result;
  } finally {
    clearTimeout(timer);
  }
}

async function collect(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array | 'too large'> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    // A stream of the handler's own may have anything in it; a Response of the platform then fails, too.
    if (!(next.value instanceof Uint8Array)) throw new TypeError('a piece of the body is no Uint8Array');
    size += next.value.byteLength;
    if (size > maxBytes) return 'too large';
    pieces.push(next.value);
  }
  return Buffer.concat(pieces, size);
}
