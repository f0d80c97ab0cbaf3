import type { RequestOptions as HttpOptions, IncomingMessage } from 'node:http';
import { type RequestOptions, request as tlsRequest } from 'node:https';
import { nodeHttp } from '../../shared/util/node-http.ts';

export interface FetchOptions {
  /** Default: GET. */
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Milliseconds for the whole exchange. */
  readonly timeout: number;
  /** Maximum size of the response. Default: 1 MiB. */
  readonly maxBytes?: number;
  /** False: any certificate is accepted. Default: true. */
  readonly verify?: boolean;
  /** PEM of the authorities to trust. Default: the built-in ones. */
  readonly ca?: string;
  /** Aborts the exchange. */
  readonly signal?: AbortSignal;
}

export interface FetchedDocument {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/**
 * Sends a request to another server and returns the response, within a time and a size. Redirects are not followed. Rejects with
 * an `Error` of one line that has the server, and never what was sent.
 *
 * @example
 * const { status, body } = await fetchDocument(config.url, { timeout: 2000, maxBytes: 65_536 });
 */
export function fetchDocument(url: string, options: FetchOptions): Promise<FetchedDocument> {
  const target = new URL(url);
  if (target.protocol !== 'http:' && target.protocol !== 'https:') {
    return Promise.reject(new Error(`${target.protocol} is not a protocol to fetch by`));
  }
  const { method = 'GET', headers = {}, body = '', timeout, maxBytes = 1 << 20, verify = true, ca, signal } = options;
  const length = method === 'POST' ? { 'Content-Length': String(Buffer.byteLength(body)) } : {};
  const deadline = AbortSignal.timeout(timeout);
  const ending = signal === undefined ? deadline : AbortSignal.any([deadline, signal]);
  const common: HttpOptions = { method, headers: { ...headers, ...length }, signal: ending };
  const secure: RequestOptions = { ...common, rejectUnauthorized: verify, ...(ca === undefined ? {} : { ca }) };
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void => {
      const reason = ending.aborted ? endingOf(deadline, timeout) : error.message;
      reject(new Error(`${target.origin}: ${reason}`, { cause: error }));
    };
    const answered = (answer: IncomingMessage): void => {
      collect(answer, maxBytes).then(
        (bytes) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: bytes }),
        failed,
      );
    };
    const request =
      target.protocol === 'https:' ? tlsRequest(target, secure, answered) : nodeHttp.request(target, common, answered);
    request.on('error', failed);
    request.end(method === 'POST' ? body : undefined);
  });
}

/** A URL for logs: without user, password and query, which can contain secrets. */
export function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

function endingOf(deadline: AbortSignal, timeout: number): string {
  return deadline.aborted ? `no answer in ${timeout} ms` : 'aborted';
}

async function collect(answer: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    size += piece.byteLength;
    if (size > maxBytes) throw new Error(`the answer is larger than ${maxBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
