import type { AnswerTap, BackendAnswerContext, BaseContext, HeaderBlock, Reply } from '../../../plugin-sdk/index.ts';
import { type Address, addressOf, sameOriginAddress } from '../rules/cache-key.ts';
import {
  type ReceivedResponse,
  type StorageTerms,
  storageTerms,
  storedHeaders,
  updatedHeaders,
} from '../rules/cacheability.ts';
import { canServeOnError, isServerFailure } from '../rules/freshness.ts';
import { firstHeader, headerValues } from '../rules/header-fields.ts';
import type { CachedResponse } from '../store/cache-store.ts';
import { chain, type MaybePromise } from '../store/entry-store.ts';
import { BodyCollector } from './body-collector.ts';
import { type CacheContext, type CacheRequest, cacheContextKey } from './cache-context.ts';
import { attempt, type CacheServices } from './cache-services.ts';

/** Milliseconds for which requests for an uncacheable response, or one of a failing backend, do not wait. */
const hitForMissTime = 10_000;
const failureTime = 1_000;

/** Methods that do not change anything (RFC 9110 9.2.1). */
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** Stores responses while they stream to the client, and replaces them by stored ones where the rules say so. */
export class ResponseCapture {
  readonly #services: CacheServices;

  constructor(services: CacheServices) {
    this.#services = services;
  }

  /** The `backendAnswer` phase. */
  received(context: BackendAnswerContext): AnswerTap | Reply | null {
    const state = context.get(cacheContextKey);
    if (state === undefined) return null;
    const cacheRequest = state.request;
    if (cacheRequest === null) {
      this.#invalidate(context);
      return null;
    }
    const { response, request } = context;
    const { stale } = state;
    const now = Date.now();
    if (stale !== null) {
      if (state.validating && response.status === 304) {
        return this.#validated(context, state, cacheRequest, stale, now);
      }
      if (isServerFailure(response.status) && (state.refreshing || canServeOnError(stale.response, now))) {
        return this.#serveStale(state, cacheRequest, stale, now);
      }
    }
    const headers = response.block();
    const received = receivedResponse(state, cacheRequest, response.status, headers, now);
    const terms = storageTerms(received, this.#services.policy);
    if (terms === null || response.bodyLength > this.#services.policy.maxBody) {
      this.#notStored(state, cacheRequest, response.status);
      return null;
    }
    if (request.method === 'HEAD') {
      if (stale !== null && contradicts(stale.response.headers, headers)) this.#remove(stale.key);
      this.#services.releaseLock(state);
      return null;
    }
    return this.#collect(context, state, cacheRequest, terms, headers, now);
  }

  /** The `backendFailure` phase. */
  failed(context: BaseContext): Reply | null {
    const state = context.get(cacheContextKey);
    if (state === undefined || state.request === null) return null;
    const now = Date.now();
    const { stale } = state;
    if (stale !== null && (state.refreshing || canServeOnError(stale.response, now))) {
      return this.#serveStale(state, state.request, stale, now);
    }
    this.#notStored(state, state.request, 503);
    return null;
  }

  #collect(
    { response }: BackendAnswerContext,
    state: CacheContext,
    { target }: CacheRequest,
    terms: StorageTerms,
    headers: HeaderBlock,
    responseTime: number,
  ): AnswerTap | null {
    const { store, policy, copyBudget } = this.#services;
    const { sentAt } = state;
    const reserved = store.reserve(target, terms, sentAt, state.selectingHeaders);
    if (reserved === null) {
      this.#services.releaseLock(state);
      return null;
    }
    // The client sees the key if it is known before the headers are sent.
    if (typeof reserved === 'string') state.key = reserved;
    else {
      const isExpected = state.indexed || (state.key === target.key && terms.vary.length === 0);
      if (!isExpected) state.key = '';
      // It is awaited at the end of the body; until then its rejection must not be unhandled.
      reserved.catch(() => {});
    }
    const storable = { target, status: response.status, headers, terms, sentAt, responseTime };
    const collector = new BodyCollector({
      length: response.bodyLength,
      limit: policy.maxBody,
      budget: copyBudget,
      complete: (body) => {
        const put = () => chain(reserved, (key) => key === null || store.put(key, { ...storable, body }));
        this.#releaseAfter(state, attempt(this.#services, put));
      },
      failed: (aborted) => {
        if (aborted) this.#services.releaseLock(state);
        else this.#notStored(state, { target }, 200);
      },
    });
    if (response.bodyLength !== 0) return collector;
    collector.end();
    return null;
  }

  /** The stored response is still valid: it is the reply, updated with the headers of the 304 (RFC 9111 4.3.4). */
  #validated(
    context: BackendAnswerContext,
    state: CacheContext,
    request: CacheRequest,
    { key, entry, response: stored }: CachedResponse,
    now: number,
  ): Reply {
    const { store, policy, replies } = this.#services;
    const { target } = request;
    const { sentAt } = state;
    const notModified = context.response.block();
    const headers = updatedHeaders(stored.headers, notModified, policy.cookies, now);
    const terms = storageTerms(receivedResponse(state, request, stored.status, headers, now), policy);
    let fresh = { ...stored, initialAge: 0, storedAt: now, headers: storedHeaders(headers, policy, now) };
    if (terms === null) {
      this.#remove(key);
      this.#services.releaseLock(state);
    } else {
      fresh = { ...fresh, ...terms };
      const { status } = stored;
      const { body, tags } = entry;
      const storable = { target, status, headers, body, terms, sentAt, responseTime: now, tags };
      const put = () =>
        chain(
          store.reserve(target, terms, sentAt, state.selectingHeaders),
          (reserved) => reserved === null || store.put(reserved, storable),
        );
      this.#releaseAfter(state, attempt(this.#services, put));
    }
    // Cookies are for the client that caused the validation.
    if (policy.cookies !== 'store') {
      for (const cookie of headerValues(notModified, 'set-cookie')) fresh.headers += `Set-Cookie: ${cookie}\r\n`;
    }
    state.hasCacheHeaders = true;
    return replies.reply({ key, entry, response: fresh }, 'Refresh', now, request.conditions);
  }

  /** Waiting requests look again once the response is stored. If it is not, they must not fetch it one by one. */
  #releaseAfter(state: CacheContext, storing: MaybePromise<boolean>): void {
    const { locks } = this.#services;
    const { lockedKey } = state;
    // The request may end before the store has the response: its log phase must not release the lock.
    state.lockedKey = '';
    chain(storing, (stored) => {
      if (lockedKey === '') return;
      if (!stored) locks.suspend(lockedKey, failureTime);
      locks.release(lockedKey);
    });
  }

  #serveStale(state: CacheContext, request: CacheRequest, stale: CachedResponse, now: number): Reply {
    // Waiting requests would fail as well: they get the stale response at once.
    this.#services.locks.suspend(state.lockedKey, failureTime);
    this.#services.releaseLock(state);
    state.hasCacheHeaders = true;
    return this.#services.replies.reply(stale, 'Hit', now, request.conditions);
  }

  /** The response is not stored: neither the waiting requests nor the next ones wait for it. */
  #notStored(state: CacheContext, { target }: Pick<CacheRequest, 'target'>, status: number): void {
    const { locks, store } = this.#services;
    state.status = 'Bypass';
    const { stale, lockedKey } = state;
    const failing = isServerFailure(status);
    // The new response replaces the stale one even if it is not stored; a failure does not.
    if (stale !== null && !failing && status !== 304 && status !== 206) this.#remove(stale.key);
    if (lockedKey === '') return;
    const time = failing ? failureTime : hitForMissTime;
    locks.suspend(lockedKey, time);
    if (stale !== null && failing) {
      this.#services.releaseLock(state);
      return;
    }
    state.lockedKey = '';
    chain(
      attempt(this.#services, () => store.markHitForMiss(lockedKey, target, time)),
      () => locks.release(lockedKey),
    );
  }

  #remove(key: string): void {
    attempt(this.#services, () => chain(this.#services.entries.purge({ key }), () => true));
  }

  /**
   * A successful request with an unsafe method invalidates what is stored of its address, and of those that the response
   * names, if they have the same origin (RFC 9111 4.4).
   */
  #invalidate(context: BackendAnswerContext): void {
    const { request, response } = context;
    if (safeMethods.has(request.method) || response.status < 200 || response.status >= 400) return;
    const address = addressOf(context);
    this.#invalidateAddress(address);
    for (const name of ['location', 'content-location']) {
      const reference = response.header(name);
      const other = reference === null ? null : sameOriginAddress(reference, address);
      if (other !== null) this.#invalidateAddress(other);
    }
  }

  #invalidateAddress(address: Address): void {
    const { keys, store } = this.#services;
    const key = keys.key(address);
    attempt(this.#services, () => store.invalidate(key, address));
  }
}

function receivedResponse(
  { requestTime }: CacheContext,
  { target, authorized }: CacheRequest,
  status: number,
  headers: HeaderBlock,
  responseTime: number,
): ReceivedResponse {
  return { status, headers, authorized, identified: target.identity !== '', requestTime, responseTime };
}

/** A response to HEAD describes another representation than the stored one (RFC 9111 4.3.5). */
function contradicts(stored: HeaderBlock, received: HeaderBlock): boolean {
  return ['etag', 'last-modified'].some((name) => {
    const value = firstHeader(received, name);
    return value !== null && value !== firstHeader(stored, name);
  });
}
