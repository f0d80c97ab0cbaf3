import { isIP } from 'node:net';
import type { RuntimeTarget } from '../balancer/runtime-target.ts';
import { loadUpstreamSessions } from '../http2/load-upstream-sessions.ts';
import type { UpstreamTls } from '../snapshot/runtime.ts';
import { Pool, type PoolOptions } from './pool.ts';
import type { ResponseListener, UpstreamSource } from './upstream-link.ts';

/** Maximum pools of names that clients choose. */
const maxClientChosen = 100;

/** All pools of a worker, by address and TLS identity. */
export class Pools {
  readonly #pools = new Map<string, UpstreamSource>();
  /** Keys of pools whose name a client has chosen, the least recently used first. */
  readonly #chosen = new Set<string>();
  readonly #byTarget = new WeakMap<RuntimeTarget, UpstreamSource>();
  readonly #options: PoolOptions;
  readonly #listener: ResponseListener;

  constructor(options: PoolOptions, listener: ResponseListener) {
    this.#options = options;
    this.#listener = listener;
  }

  /**
   * The pool of a target whose host is an IP address, or null. Making the key and looking it up costs more than all other
   * bookkeeping of a request, so the pool is kept by target; a changed service has a new target.
   */
  cached(target: RuntimeTarget): UpstreamSource | null {
    return this.#byTarget.get(target) ?? null;
  }

  cache(target: RuntimeTarget, pool: UpstreamSource): void {
    if (target.ip !== null) this.#byTarget.set(target, pool);
  }

  /**
   * `host` is the requested name (SNI, verification); `ip` the address chosen for it. `http2`: the backend speaks
   * HTTP/2.
   */
  get(host: string, ip: string, port: number, tls: UpstreamTls | null, http2: boolean): UpstreamSource {
    const key = keyOf(host, ip, port, tls, http2);
    let pool = this.#pools.get(key);
    if (pool === undefined) {
      this.#sweep();
      const serverName = tls !== null && isIP(host) === 0 ? host : '';
      const Source = http2 ? loadUpstreamSessions().UpstreamSessions : Pool;
      pool = new Source({ ip, port, tls, serverName }, this.#options, this.#listener);
      this.#pools.set(key, pool);
    }
    return pool;
  }

  /** The same for a name chosen by a client; pools of the least recently used names are closed. */
  getChosen(host: string, ip: string, port: number, tls: UpstreamTls, http2: boolean): UpstreamSource {
    const key = keyOf(host, ip, port, tls, http2);
    this.#chosen.delete(key);
    this.#chosen.add(key);
    if (this.#chosen.size > maxClientChosen) this.#evictChosen();
    return this.get(host, ip, port, tls, http2);
  }

  #evictChosen(): void {
    for (const key of this.#chosen) {
      const pool = this.#pools.get(key);
      // The rest is bounded by the requests in flight.
      if (pool !== undefined && pool.idle < pool.open) continue;
      pool?.close();
      this.#pools.delete(key);
      this.#chosen.delete(key);
      return;
    }
  }

  get idle(): number {
    let idle = 0;
    for (const pool of this.#pools.values()) idle += pool.idle;
    return idle;
  }

  /** Removes pools without connections, so that addresses of old configurations do not pile up. */
  #sweep(): void {
    if (this.#pools.size < 1000) return;
    for (const [key, pool] of this.#pools) if (pool.open === 0) this.#pools.delete(key);
  }

  close(): void {
    for (const pool of this.#pools.values()) pool.close();
  }
}

function keyOf(host: string, ip: string, port: number, tls: UpstreamTls | null, http2: boolean): string {
  const address = `${ip}|${port}|${http2 ? 2 : 1}`;
  return tls === null ? address : `${address}|${host}|${tls.identity}`;
}
