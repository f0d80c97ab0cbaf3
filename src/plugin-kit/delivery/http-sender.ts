import type { ClientRequest, IncomingMessage, Agent as PlainAgent } from 'node:http';
import { request as secureRequest, Agent as TlsAgent } from 'node:https';
import type { SecureContext } from 'node:tls';
import { utf8AsLatin1 } from '../../shared/util/bytes/latin1.ts';
import { nodeHttp } from '../../shared/util/node-http.ts';
import { trustedAuthorities } from '../auth/authorities.ts';

export interface HttpSenderOptions {
  /** `http` or `https`. Its userinfo becomes Basic authentication, unless `headers` has an `Authorization`. */
  readonly url: string;
  /** Default: POST. */
  readonly method?: 'POST' | 'PUT' | 'PATCH';
  /** Sent with each message; names in any case. Their values may be secrets: they are in no error. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds for the connection, DNS and TLS included. */
  readonly connectTimeout: number;
  /** Milliseconds for sending the whole message. */
  readonly sendTimeout: number;
  /** Milliseconds until the head of the response, and again until its end. */
  readonly readTimeout: number;
  /** Milliseconds for which an idle connection is kept; 0: as long as the receiver keeps it. Default: 60,000. */
  readonly keepalive?: number;
  /** PEM file of the authorities to trust; null: the built-in ones. */
  readonly trustedCertificates: string | null;
}

/** The response of the receiver. */
export interface SenderAnswer {
  readonly status: number;
  /** The header `Retry-After` unchanged, or null. */
  readonly retryAfter: string | null;
  /** The body, as far as it arrived in time; at most 64 KiB. */
  readonly body: Uint8Array;
}

/** Sends messages to one URL over persistent connections. */
export interface HttpSender {
  /** Scheme, host and port, for logs: `https://collector.example.com`. */
  readonly receiver: string;
  /**
   * Resolves to the status, whatever it is: redirects are not followed, and the body of the response is dropped. Rejects with a
   * `SenderFailed` without a response in time. A message can arrive twice: when a kept connection breaks, it is sent again.
   */
  send(
    body: string | Uint8Array,
    contentType: string,
    signal: AbortSignal,
    headers?: Readonly<Record<string, string>>,
  ): Promise<number>;
  /** Like `send`, but resolves to the response. */
  exchange(
    body: string | Uint8Array,
    contentType: string,
    signal: AbortSignal,
    headers?: Readonly<Record<string, string>>,
  ): Promise<SenderAnswer>;
  /** Closes all connections, also those in use. */
  close(): void;
}

/** There was no response. The message has the receiver and the reason; no path, query, credential or content. */
export class SenderFailed extends Error {
  override readonly name = 'SenderFailed';
}

/** Bytes of a response body that are read to keep the connection. */
const maxAnswerBytes = 65_536;

/** Interim answers (1xx) to one message. */
const maxInterim = 64;

/**
 * Opens a sender. Call it in `setup`.
 *
 * @throws Error for an invalid URL, or a file of authorities that cannot be read.
 */
export function httpSender(options: HttpSenderOptions): HttpSender {
  const target = targetOf(options);
  const exchange: HttpSender['exchange'] = (body, contentType, signal, headers = {}) =>
    deliver(target, { body, signal, headers: { ...headers, 'Content-Type': contentType } }, true);
  return {
    receiver: target.origin,
    send: async (body, contentType, signal, headers) => (await exchange(body, contentType, signal, headers)).status,
    exchange,
    close: () => target.agent.destroy(),
  };
}

interface Target {
  readonly options: HttpSenderOptions;
  readonly origin: string;
  readonly isSecure: boolean;
  readonly agent: PlainAgent | TlsAgent;
  /** Null: the built-in authorities. */
  readonly trusted: (() => SecureContext) | null;
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Message {
  readonly body: string | Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

function targetOf(options: HttpSenderOptions): Target {
  const { url, headers = {}, keepalive = 60_000, trustedCertificates } = options;
  const { protocol, username, password, hostname, port, pathname, search, origin } = parsed(url);
  const isSecure = protocol === 'https:';
  const pool = { keepAlive: true, maxFreeSockets: 4, timeout: keepalive };
  const own = new Map([['user-agent', 'sluicegate']]);
  if (username !== '' || password !== '') own.set('authorization', basicAuthorization(username, password));
  for (const [name, value] of Object.entries(headers)) own.set(name.toLowerCase(), utf8AsLatin1(value));
  return {
    options,
    origin,
    isSecure,
    agent: isSecure ? new TlsAgent(pool) : new nodeHttp.Agent(pool),
    trusted: trustedCertificates === null ? null : trustedAuthorities(trustedCertificates),
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isSecure ? 443 : 80) : Number(port),
    path: pathname + search,
    headers: Object.fromEntries(own),
  };
}

/** The address may contain a password, so no message shows it. */
function parsed(url: string): URL {
  if (!URL.canParse(url)) throw new TypeError('the address to send to is not a URL');
  const target = new URL(url);
  if (target.protocol === 'http:' || target.protocol === 'https:') return target;
  throw new TypeError('the address to send to must begin with http:// or https://');
}

function basicAuthorization(username: string, password: string): string {
  const text = `${decoded(username)}:${decoded(password)}`;
  return `Basic ${Buffer.from(text).toString('base64')}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function deliver(target: Target, message: Message, mayRepeat: boolean): Promise<SenderAnswer> {
  let exchange: Exchange | null = null;
  try {
    exchange = new Exchange(target, message);
    return await exchange.answer;
  } catch (error) {
    // The receiver closed an idle connection just before it was reused.
    const again = mayRepeat && exchange?.metStaleConnection === true && !message.signal.aborted;
    if (again) return deliver(target, message, false);
    throw failure(target, error);
  }
}

/** One message and its response. */
class Exchange {
  readonly answer: Promise<SenderAnswer>;
  readonly #request: ClientRequest;
  readonly #settle: PromiseWithResolvers<SenderAnswer>;
  #deadline: NodeJS.Timeout | null = null;
  #answered = false;

  constructor(target: Target, { body, headers, signal }: Message) {
    const { connectTimeout, sendTimeout, readTimeout, method = 'POST' } = target.options;
    this.#settle = Promise.withResolvers();
    this.answer = this.#settle.promise;
    const { host, port, path, agent, isSecure, trusted } = target;
    // As bytes: Node would write the head in the encoding of a text that follows it.
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const fields = { ...target.headers, ...headers, 'Content-Length': String(bytes.byteLength) };
    const tls = isSecure && trusted !== null ? { secureContext: trusted() } : {};
    this.#request = (isSecure ? secureRequest : nodeHttp.request)(
      { host, port, path, agent, method, headers: fields, signal, ...tls },
      (answer) => this.#read(answer, readTimeout),
    );
    this.#request.on('error', (error) => this.#fail(error));
    let interim = 0;
    this.#request.on('information', () => {
      if (++interim > maxInterim) this.#request.destroy(new Error('too many interim answers'));
    });
    // An exchange that ends without any other event.
    this.#request.on('close', () => this.#fail(new Error('the connection was closed')));
    this.#within(connectTimeout, 'no connection');
    this.#request.on('socket', (socket) => {
      const connected = () => this.#within(sendTimeout, 'the message was not taken');
      if (this.#request.reusedSocket) connected();
      else socket.once(target.isSecure ? 'secureConnect' : 'connect', connected);
    });
    this.#request.on('finish', () => {
      if (!this.#answered) this.#within(readTimeout, 'no answer');
    });
    this.#request.end(bytes);
  }

  get metStaleConnection(): boolean {
    return this.#request.reusedSocket && !this.#answered && this.#deadline !== null;
  }

  #within(milliseconds: number, what: string): void {
    if (this.#deadline !== null) clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => {
      this.#deadline = null;
      this.#request.destroy(new Error(`${what} within ${milliseconds} ms`));
    }, milliseconds).unref();
  }

  #read(answer: IncomingMessage, readTimeout: number): void {
    this.#answered = true;
    const status = answer.statusCode ?? 0;
    const retryAfter = answer.headers['retry-after'] ?? null;
    const pieces: Buffer[] = [];
    let bytes = 0;
    // Only the status matters: a body that is too long, too slow or incomplete only costs the connection.
    this.#within(readTimeout, 'the answer did not end');
    answer.on('data', (piece: Buffer) => {
      bytes += piece.byteLength;
      if (bytes > maxAnswerBytes) this.#request.destroy();
      else pieces.push(piece);
    });
    answer.on('error', () => {});
    answer.on('close', () => {
      this.#end();
      // The caller may reuse the bytes, so a receiver that answers early must not get the rest of them.
      if (!this.#request.writableFinished) this.#request.destroy();
      this.#settle.resolve({ status, retryAfter, body: Buffer.concat(pieces) });
    });
  }

  #fail(error: Error): void {
    this.#end();
    if (!this.#answered) this.#settle.reject(error);
  }

  #end(): void {
    if (this.#deadline !== null) clearTimeout(this.#deadline);
  }
}

/** Node's messages can contain bytes of the receiver: keep one short line. */
function failure({ origin }: Target, error: unknown): SenderFailed {
  const text = error instanceof Error ? (error.name === 'AbortError' ? 'aborted' : error.message) : 'unknown';
  const reason = (text || 'no connection').replace(/[^\x20-\x7e]+/g, ' ').slice(0, 200);
  return new SenderFailed(`${origin}: ${reason}`, { cause: error });
}
