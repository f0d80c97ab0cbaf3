import { isUint8Array } from 'node:util/types';
import type { AttemptWatcher, RetryPolicy, UpstreamTimeouts } from '../../plugin-sdk/attempts.ts';
import type { UpstreamRequestEdit } from '../../plugin-sdk/upstream-request-edit.ts';
import { headerValues } from '../../shared/http/header-block.ts';
import { escapePath, remainingPath } from '../../shared/http/path.ts';
import { HeaderEdits, isFraming, lowerName, refuseFraming } from '../answer/header-edits.ts';
import type { Exchange } from '../request/exchange.ts';
import { withoutArguments } from '../request/query-arguments.ts';
import { UpstreamPolicy } from './upstream-policy.ts';

/** What plugins change in the request for the backend. What it writes to the exchange is safe to send. */
export class ExchangeUpstreamEdit implements UpstreamRequestEdit {
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  get changes(): string {
    const { upstreamMethod, upstreamPath, pathInService, upstreamQuery, service, route, policy } = this.#exchange;
    const other = service === (route?.service ?? null) ? null : (service?.id ?? null);
    const upstream = policy?.upstream?.id ?? null;
    const all = [upstreamMethod, upstreamPath, pathInService, upstreamQuery, other, upstream];
    return all.every((one) => one === null) ? '' : JSON.stringify(all);
  }

  headerValues(name: string): readonly string[] {
    const { identity, head, requestEdits: edits } = this.#exchange;
    const block = identity === '' ? head.forwardBlock : identity + head.forwardBlock;
    const lower = name.toLowerCase();
    return edits === null ? headerValues(block, lower) : edits.values(block, lower);
  }

  query(): string {
    return this.#exchange.upstreamQuery ?? this.#exchange.head.query;
  }

  setHeader(name: string, value: string): void {
    refuseFraming(name);
    requestEdits(this.#exchange).set(name, value);
  }

  setAbsentHeader(name: string, value: string): void {
    refuseFraming(name);
    // The gateway writes one itself, which is not among the client's lines.
    if (lowerName(name) === 'host') this.setHeader(name, value);
    else requestEdits(this.#exchange).setAbsent(name, value);
  }

  addHeader(name: string, value: string): void {
    refuseFraming(name);
    if (name.toLowerCase() === 'host') throw new Error('a request has one Host header: set it instead');
    requestEdits(this.#exchange).add(name, value);
  }

  removeHeader(name: string): void {
    if (isFraming(name) || name.toLowerCase() === 'host') return;
    requestEdits(this.#exchange).remove(name);
  }

  setMethod(method: string): void {
    if (!/^[A-Z][A-Z0-9_-]{0,31}$/.test(method) || method === 'CONNECT') {
      throw new Error(`${JSON.stringify(method)} is not a method that can be sent to a backend`);
    }
    this.#exchange.upstreamMethod = method;
  }

  setPath(path: string): void {
    if (!path.startsWith('/')) throw new Error('the path must begin with a slash');
    this.#exchange.upstreamPath = escapePath(withoutAuthority(path));
  }

  get pathInService(): string {
    const { path, route, matchedPath, pathInService } = this.#exchange;
    return pathInService ?? remainingPath(route?.stripPath === true ? matchedPath : '', path);
  }

  setPathInService(path: string): void {
    if (!path.startsWith('/')) throw new Error('the path must begin with a slash');
    this.#exchange.pathInService = withoutAuthority(path);
    this.#exchange.upstreamPath = null;
  }

  setQuery(query: string): void {
    this.#exchange.upstreamQuery = query.split('?').map(escapePath).join('?');
  }

  removeQueryArguments(names: ReadonlySet<string>): void {
    const x = this.#exchange;
    const query = x.upstreamQuery ?? x.head.query;
    const kept = withoutArguments(query, names);
    if (kept !== query) x.upstreamQuery = kept;
  }

  removeCookies(names: readonly string[]): void {
    const x = this.#exchange;
    const block = x.head.forwardBlock;
    const lines = x.requestEdits?.values(block, 'cookie') ?? headerValues(block, 'cookie');
    if (lines.length === 0) return;
    const pairs = lines.flatMap((line) => line.split(';')).map((pair) => pair.trim());
    const kept = pairs.filter((pair) => pair !== '' && !names.some((name) => isCookie(pair, name)));
    if (kept.length === pairs.length) return;
    if (kept.length === 0) this.removeHeader('Cookie');
    else this.setHeader('Cookie', kept.join('; '));
  }

  setTimeouts(timeouts: Partial<UpstreamTimeouts>): void {
    const policy = policyOf(this.#exchange);
    const before = policy.timeouts ?? this.#exchange.service?.timeouts ?? noTimeouts;
    policy.timeouts = { ...before, ...timeouts };
  }

  setRetries(retries: RetryPolicy): void {
    policyOf(this.#exchange).retries = retries;
  }

  watchAttempts(watcher: AttemptWatcher): void {
    policyOf(this.#exchange).watch(watcher);
  }

  setUpstream(name: string): boolean {
    const upstream = this.#exchange.snapshot.upstream(name);
    if (upstream === null) return false;
    policyOf(this.#exchange).upstream = upstream;
    return true;
  }

  setService(idOrName: string): boolean {
    const service = this.#exchange.snapshot.service(idOrName);
    if (service === null) return false;
    this.#exchange.service = service;
    return true;
  }

  setBody(body: Uint8Array): void {
    if (!isUint8Array(body)) throw new TypeError('setBody takes bytes: Buffer.from(text)');
    const x = this.#exchange;
    if (x.requestBody === null && x.head.bodyLength !== 0) {
      throw new Error('the request body can be replaced only once it has been read');
    }
    x.requestBody = body;
  }
}

/** A path that begins with `//` could be read as an authority (RFC 3986 4.2). */
function withoutAuthority(path: string): string {
  return path.startsWith('//') ? path.replace(/^\/+/, '/') : path;
}

const noTimeouts: UpstreamTimeouts = Object.freeze({ connect: 0, send: 0, firstByte: 0, idle: 0, total: 0 });

function policyOf(exchange: Exchange): UpstreamPolicy {
  exchange.policy ??= new UpstreamPolicy();
  return exchange.policy;
}

/** True for `name=`, and for `name_2=` to `name_9=`. */
function isCookie(pair: string, name: string): boolean {
  return pair.startsWith(name) && /^(?:_[2-9])?\s*=/.test(pair.slice(name.length));
}

export function requestEdits(exchange: Exchange): HeaderEdits {
  exchange.requestEdits ??= new HeaderEdits(true);
  return exchange.requestEdits;
}
