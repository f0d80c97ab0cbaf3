import { type AccessContext, type BackendAnswer, CallFailed } from '../../../plugin-sdk/index.ts';
import type { HeaderValues } from '../rules/cache-key.ts';
import { storageTerms, updatedHeaders } from '../rules/cacheability.ts';
import { isServerFailure } from '../rules/freshness.ts';
import type { CachedResponse } from '../store/cache-store.ts';
import { chain, type MaybePromise } from '../store/entry-store.ts';
import { preciseNow } from '../store/precise-now.ts';
import { addValidators, type CacheRequest, removeConditions, selectingHeaders } from './cache-context.ts';
import { attempt, type CacheServices } from './cache-services.ts';

/** Milliseconds. No client waits for the response. */
const refreshTimeout = 60_000;

/** Fetches responses again while the stale ones are still served (RFC 5861 3). */
export class BackgroundRefresh {
  readonly #services: CacheServices;
  /** Keys that this worker is refreshing. */
  readonly #refreshing = new Set<string>();

  constructor(services: CacheServices) {
    this.#services = services;
  }

  /** Settles once the refresh has started, or another request holds the lock. */
  start(context: AccessContext, request: CacheRequest, cached: CachedResponse): MaybePromise<void> {
    const { key } = cached;
    if (this.#refreshing.has(key)) return;
    this.#refreshing.add(key);
    const begin = (holdsLock: boolean): MaybePromise<void> => {
      if (!holdsLock) {
        this.#refreshing.delete(key);
        return;
      }
      return chain(this.#isReplaced(cached), (replaced) => {
        if (!replaced) {
          this.#fetch(context, request, cached);
          return;
        }
        this.#refreshing.delete(key);
        this.#services.locks.release(key);
      });
    };
    return chain(
      attempt(this.#services, () => chain(this.#services.locks.acquire(key), (wait) => wait === null)),
      begin,
    );
  }

  /** Another worker may have refreshed it between the lookup and the lock. */
  #isReplaced({ key, entry }: CachedResponse): MaybePromise<boolean> {
    const { entries } = this.#services;
    return attempt(this.#services, () =>
      chain(entries.get(key), (current) => current !== null && current.head !== entry.head),
    );
  }

  #fetch(context: AccessContext, request: CacheRequest, cached: CachedResponse): void {
    if (!addValidators(context, cached)) removeConditions(context);
    context.upstream.removeHeader('Range');
    context.upstream.removeHeader('If-Range');
    const requestTime = Date.now();
    const sentAt = preciseNow();
    const headers = selectingHeaders(context);
    context
      .call({
        pass: 'all',
        timeout: refreshTimeout,
        maxBytes: this.#services.policy.maxBody,
        keepCoding: true,
        detached: true,
      })
      .then((response) => this.#received(request, cached, response, { requestTime, sentAt }, headers))
      .catch((error: unknown) => {
        // The stale response is served as long as allowed; after that, clients see the failure.
        if (!(error instanceof CallFailed)) this.#services.reportFailure(error);
      })
      .finally(() => {
        this.#refreshing.delete(cached.key);
        this.#services.locks.release(cached.key);
      });
  }

  async #received(
    request: CacheRequest,
    cached: CachedResponse,
    received: BackendAnswer,
    { requestTime, sentAt }: { readonly requestTime: number; readonly sentAt: number },
    selecting: HeaderValues,
  ): Promise<void> {
    const { policy, store, entries } = this.#services;
    const validated = received.status === 304;
    if (isServerFailure(received.status)) return;
    const responseTime = Date.now();
    const headers = validated
      ? updatedHeaders(cached.response.headers, received.block(), policy.cookies, responseTime)
      : received.block();
    const status = validated ? cached.response.status : received.status;
    const { target, authorized } = request;
    const identified = target.identity !== '';
    const terms = storageTerms({ status, headers, authorized, identified, requestTime, responseTime }, policy);
    if (terms === null) {
      await entries.purge({ key: cached.key });
      return;
    }
    const body = validated ? cached.entry.body : received.body;
    const tags = validated ? cached.entry.tags : [];
    const key = await store.reserve(target, terms, sentAt, selecting);
    if (key !== null) await store.put(key, { target, status, headers, body, terms, sentAt, responseTime, tags });
  }
}
