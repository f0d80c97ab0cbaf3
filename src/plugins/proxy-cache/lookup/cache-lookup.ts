import { type AccessContext, type Reply, refuse } from '../../../plugin-sdk/index.ts';
import { noDirectives } from '../rules/cache-control.ts';
import { decideFreshness } from '../rules/freshness.ts';
import type { CachedResponse, LookupResult } from '../store/cache-store.ts';
import { chain, type LockWait, type MaybePromise } from '../store/entry-store.ts';
import { preciseNow } from '../store/precise-now.ts';
import { BackgroundRefresh } from './background-refresh.ts';
import {
  addValidators,
  CacheContext,
  type CacheRequest,
  cacheContextKey,
  cacheRequest,
  removeConditions,
  selectingHeaders,
} from './cache-context.ts';
import { attempt, type CacheServices } from './cache-services.ts';

/** A stored response, or undefined: the request goes to the backend. */
type Outcome = MaybePromise<undefined | Reply>;

/** Looks up requests, before they go to the backend. */
export class CacheLookup {
  readonly #services: CacheServices;
  readonly #refresh: BackgroundRefresh;

  constructor(services: CacheServices) {
    this.#services = services;
    this.#refresh = new BackgroundRefresh(services);
  }

  /** The `access` phase. */
  access(context: AccessContext): Outcome {
    const { request } = context;
    const { method } = request;
    if (!this.#services.policy.methods.has(method)) return bypass(context);
    if (method === 'GET' || method === 'HEAD') return this.#lookUp(context, null);
    // The body is part of the key: one of unknown or excessive size is not read.
    const { bodyLength } = request;
    if (bodyLength === 0) return this.#lookUp(context, null);
    if (bodyLength < 0 || bodyLength > this.#services.policy.maxBody) return bypass(context);
    return context.body().then((body) => this.#lookUp(context, body));
  }

  #lookUp(context: AccessContext, body: Uint8Array | null): Outcome {
    const { keys, policy } = this.#services;
    const request = cacheRequest(context, keys, policy, body);
    if (request === null) return bypass(context);
    const result = this.#find(context, request);
    const now = Date.now();
    if (!(result instanceof Promise)) return this.#decide(context, request, result, now + policy.coalescingWait, null);
    return result.then(
      (found) => this.#decide(context, request, found, now + policy.coalescingWait, null),
      (error: unknown) => {
        this.#services.reportFailure(error);
        return bypass(context);
      },
    );
  }

  #find(context: AccessContext, request: CacheRequest): MaybePromise<LookupResult> {
    return this.#services.store.find(request.target, selectingHeaders(context));
  }

  /** `waited`: the state of a request that has waited for another one; null: it has not. */
  #decide(
    context: AccessContext,
    request: CacheRequest,
    { cached, key, indexed, hitForMiss }: LookupResult,
    deadline: number,
    waited: CacheContext | null,
  ): Outcome {
    const now = Date.now();
    if (cached !== null) {
      // A response that was fetched while this request waited answers it, too: otherwise they would validate in turn.
      const fetchedForAll =
        waited !== null && cached.response.storedAt > waited.receivedAt && request.control === noDirectives;
      const decision = fetchedForAll ? 'serve' : decideFreshness(cached.response, request.control, now);
      if (decision === 'serve') return this.#serve(request, cached, now, waited);
      if (decision === 'serve-and-revalidate' && request.isRetrieval && context.request.method === 'GET') {
        if (context.followed) return this.#refreshInForeground(context, request, cached, now, waited);
        const started = this.#refresh.start(context, request, cached);
        return chain(started, () => this.#serve(request, cached, now, waited));
      }
    }
    const state = waited ?? newContext(context, request, now);
    state.key = key;
    state.indexed = indexed;
    state.hitForMiss = hitForMiss;
    if (request.control.onlyIfCached) return { ...refuse(504, 'The upstream server is timing out'), format: 'wire' };
    state.stale = cached;
    state.status = cached === null ? 'Miss' : 'Refresh';
    return this.#coalesce(context, request, state, deadline);
  }

  #serve(request: CacheRequest, cached: CachedResponse, now: number, state: CacheContext | null): Reply {
    if (state !== null) state.hasCacheHeaders = true;
    return this.#services.replies.reply(cached, 'Hit', now, request.conditions);
  }

  /**
   * If other plugins run after this one, a call to the backend does not get what the cache has to store. So one client
   * waits for the new response, and the others get the stale one.
   */
  #refreshInForeground(
    context: AccessContext,
    request: CacheRequest,
    cached: CachedResponse,
    now: number,
    waited: CacheContext | null,
  ): Outcome {
    const { key } = cached;
    const { locks } = this.#services;
    if (locks.isSuspended(key)) return this.#serve(request, cached, now, waited);
    let holdsLock = false;
    const locking = attempt(this.#services, () => chain(locks.acquire(key), (wait) => (holdsLock = wait === null)));
    return chain(locking, () => {
      if (!holdsLock) return this.#serve(request, cached, now, waited);
      const state = waited ?? newContext(context, request, now);
      state.key = key;
      state.stale = cached;
      state.refreshing = true;
      state.status = 'Refresh';
      return this.#fetchOrWait(context, request, state, now, null);
    });
  }

  /** Takes the fetch lock, or waits for the request that holds it. */
  #coalesce(context: AccessContext, request: CacheRequest, state: CacheContext, deadline: number): Outcome {
    const { policy, locks } = this.#services;
    const { key } = state;
    const withoutLock =
      !policy.coalescing ||
      state.hitForMiss ||
      context.request.method === 'HEAD' ||
      request.hasRange ||
      Date.now() >= deadline ||
      locks.isSuspended(key);
    if (withoutLock) return forward(context, request, state);
    const lock = locks.acquire(key);
    if (!(lock instanceof Promise)) {
      const stored = lock === null && state.stale === null ? this.#storedMeanwhile(context, request) : null;
      if (stored === null) return this.#fetchOrWait(context, request, state, deadline, lock);
      locks.release(key);
      return this.#serve(request, stored, Date.now(), state);
    }
    return lock.then(
      (wait) => this.#fetchOrWait(context, request, state, deadline, wait),
      (error: unknown) => {
        this.#services.reportFailure(error);
        return forward(context, request, state);
      },
    );
  }

  /** What another worker has stored between the lookup and the lock. In Redis, taking the lock checks this. */
  #storedMeanwhile(context: AccessContext, request: CacheRequest): CachedResponse | null {
    const result = this.#find(context, request);
    if (result instanceof Promise || result.cached === null) return null;
    return decideFreshness(result.cached.response, request.control, Date.now()) === 'serve' ? result.cached : null;
  }

  #fetchOrWait(
    context: AccessContext,
    request: CacheRequest,
    state: CacheContext,
    deadline: number,
    wait: LockWait | null,
  ): Outcome {
    if (wait !== null) return this.#wait(context, request, state, deadline, wait);
    state.lockedKey = state.key;
    // The request ended before it got the lock.
    if (state.ended) this.#services.releaseLock(state);
    return forward(context, request, state);
  }

  async #wait(
    context: AccessContext,
    request: CacheRequest,
    state: CacheContext,
    deadline: number,
    wait: LockWait,
  ): Promise<undefined | Reply> {
    try {
      const result = await wait(Math.max(1, deadline - Date.now()));
      if (state.ended || result === 'late') return forward(context, request, state);
      return await this.#decide(context, request, await this.#find(context, request), deadline, state);
    } catch (error) {
      this.#services.reportFailure(error);
      return forward(context, request, state);
    }
  }
}

function newContext(context: AccessContext, request: CacheRequest, now: number): CacheContext {
  const state = new CacheContext(request, now);
  state.selectingHeaders = selectingHeaders(context);
  context.set(cacheContextKey, state);
  return state;
}

function bypass(context: AccessContext): undefined {
  context.set(cacheContextKey, new CacheContext(null, 0));
}

/** Lets the request go to the backend: to validate the stale response, or to get the whole one, which others can use. */
function forward(context: AccessContext, request: CacheRequest, state: CacheContext): undefined {
  state.requestTime = Date.now();
  state.sentAt = preciseNow();
  if (!request.isRetrieval) return;
  const { stale } = state;
  if (stale !== null) state.validating = addValidators(context, stale);
  if (request.conditions !== null && !state.validating && !request.hasRange) removeConditions(context);
}
