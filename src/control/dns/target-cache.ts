import { BoundedCache } from '../../shared/util/bounded-cache.ts';
import { monotonic } from '../../shared/util/time/clock.ts';

interface CachedTarget {
  readonly ips: readonly string[];
  readonly freshUntil: number;
  readonly staleUntil: number;
}

/**
 * Addresses of the targets of service records. One target that cannot be resolved for a while must not take its
 * addresses out of a service, so they are cached for as long as stale addresses may be used.
 */
export class TargetCache {
  readonly #targets: BoundedCache<string, CachedTarget>;
  readonly #staleTtl: number;

  /** `staleTtl`: milliseconds. */
  constructor(size: number, staleTtl: number) {
    this.#targets = new BoundedCache(size);
    this.#staleTtl = staleTtl;
  }

  set(target: string, ips: readonly string[], ttl: number): void {
    const freshUntil = monotonic() + ttl;
    this.#targets.set(target, { ips, freshUntil, staleUntil: freshUntil + this.#staleTtl });
  }

  /** With the milliseconds that are left of its TTL. */
  fresh(target: string): { readonly ips: readonly string[]; readonly ttl: number } | null {
    const known = this.#targets.get(target);
    const ttl = known === undefined ? 0 : known.freshUntil - monotonic();
    return known === undefined || ttl <= 0 ? null : { ips: known.ips, ttl };
  }

  /** Addresses that may still be used when no server answers. */
  stale(target: string): readonly string[] | null {
    const known = this.#targets.get(target);
    return known === undefined || monotonic() > known.staleUntil ? null : known.ips;
  }
}
