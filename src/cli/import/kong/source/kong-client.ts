import { type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';
import { CliError } from '../../../cli-error.ts';
import { shown } from '../kong-entity.ts';
import type { SourceLimits } from './source-limits.ts';

export interface KongClientOptions {
  /** The URL that the user gave. */
  readonly url: string;
  /** Sent with each request; values are secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** Do not check the certificate. */
  readonly insecure: boolean;
  readonly limits: SourceLimits;
}

export interface KongAnswer {
  readonly status: number;
  /** Null: the body is not JSON. */
  readonly body: unknown;
}

const firstPause = 200;
const longestPause = 10_000;

/** Reads the Admin API of a Kong: GET only, within limits, from one host. No error contains a header value or a password. */
export class KongClient {
  /** Without user, password and query. */
  readonly address: string;
  readonly #base: URL;
  readonly #options: KongClientOptions;
  readonly #end: AbortSignal;
  #bytes = 0;

  constructor(options: KongClientOptions) {
    this.#base = baseOf(options.url);
    this.address = `${this.#base.origin}${this.#base.pathname}`.replace(/\/+$/, '');
    this.#options = options;
    this.#end = AbortSignal.timeout(options.limits.totalTimeout);
  }

  /** `path` begins with a slash. Rejects with a `CliError` when there is no usable answer after all attempts. */
  async get(path: string): Promise<KongAnswer> {
    const { attempts } = this.#options.limits;
    for (let attempt = 1; ; attempt++) {
      const last = attempt === attempts;
      const answer = await this.#attempt(path, last);
      if (answer !== null) return answer;
      await wait(Math.min(firstPause * 2 ** (attempt - 1), longestPause), undefined, { signal: this.#end }).catch(
        () => {
          throw this.#problem(path, 'it took too long');
        },
      );
    }
  }

  /** Null: another attempt may succeed. */
  async #attempt(path: string, last: boolean): Promise<KongAnswer | null> {
    const signal = AbortSignal.any([this.#end, AbortSignal.timeout(this.#options.limits.requestTimeout)]);
    let response: IncomingMessage;
    try {
      response = await this.#send(path, signal);
      const status = response.statusCode ?? 0;
      if (!last && (status === 429 || status >= 500)) {
        response.destroy();
        return null;
      }
      if (status >= 300 && status < 400) throw this.#redirected(path, response);
      return { status, body: jsonOf(await this.#read(path, response)) };
    } catch (error) {
      if (error instanceof CliError) throw error;
      if (!last && !this.#end.aborted) return null;
      throw this.#problem(path, signal.aborted ? 'no answer in time' : reasonOf(error));
    }
  }

  #send(path: string, signal: AbortSignal): Promise<IncomingMessage> {
    const { headers, insecure } = this.#options;
    const secure = this.#base.protocol === 'https:';
    const options: RequestOptions & { rejectUnauthorized?: boolean } = {
      signal,
      headers: {
        Accept: 'application/json',
        'User-Agent': 'sluicegate',
        ...basicAuthorization(this.#base),
        ...headers,
      },
      ...(secure && insecure && { rejectUnauthorized: false }),
    };
    const url = this.address + path;
    return new Promise((resolve, reject) => {
      const request = secure ? requestHttps(url, options, resolve) : requestHttp(url, options, resolve);
      request.on('error', reject);
      request.end();
    });
  }

  async #read(path: string, response: IncomingMessage): Promise<string> {
    const { maxAnswerBytes, maxTotalBytes } = this.#options.limits;
    const parts: Buffer[] = [];
    let size = 0;
    for await (const part of response as AsyncIterable<Buffer>) {
      size += part.length;
      this.#bytes += part.length;
      if (size > maxAnswerBytes || this.#bytes > maxTotalBytes) {
        response.destroy();
        throw this.#problem(path, `the answer is larger than ${Math.min(maxAnswerBytes, maxTotalBytes)} bytes`);
      }
      parts.push(part);
    }
    return Buffer.concat(parts).toString('utf8');
  }

  /** The headers are secrets of one host, so no redirect is followed. */
  #redirected(path: string, response: IncomingMessage): CliError {
    const location = response.headers.location ?? '';
    const target = URL.parse(location, this.address + path);
    const where = target === null ? 'elsewhere' : `${target.origin}${target.pathname}`;
    return this.#problem(path, `it redirects to ${shown(where)}; give the final URL with --admin-url`);
  }

  #problem(path: string, reason: string): CliError {
    return new CliError(`cannot read ${this.address}${shown(path.replace(/\?.*/, ''))}: ${reason}`);
  }
}

function baseOf(text: string): URL {
  const url = /^https?:\/\//.test(text) ? URL.parse(text) : null;
  if (url === null) throw new CliError('--admin-url is not an http or https URL: http://kong.example:8001');
  url.search = '';
  url.hash = '';
  return url;
}

function basicAuthorization({ username, password }: URL): { readonly Authorization?: string } {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { Authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

const maxDepth = 64;

/** Null when the text is not JSON, or is JSON that no Kong writes. */
function jsonOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isHarmless(value, 0) ? value : null;
  } catch {
    return null;
  }
}

function isHarmless(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth === maxDepth || Object.hasOwn(value, '__proto__')) return false;
  return Object.values(value).every((inner) => isHarmless(inner, depth + 1));
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return shown(error.message === '' ? code : error.message);
}
