import type { BalanceQuery, HashSource } from '../balancer/balancer.ts';
import type { RuntimeTarget } from '../balancer/runtime-target.ts';
import type { Exchange } from '../request/exchange.ts';
import type { RuntimeService, RuntimeUpstream } from '../snapshot/runtime.ts';
import type { Pools } from '../upstream/pools.ts';
import type { UpstreamSource } from '../upstream/upstream-link.ts';
import type { WorkerResolver } from '../upstream/worker-resolver.ts';
import { AttemptState, enter, isCurrent } from './attempt-state.ts';
import { type BackendName, backendName } from './backend-name.ts';
import { hashInput } from './hash-inputs.ts';

/** Names that one request waits for, at most. */
const maxNameWaits = 10;

/** Receives the result of a search. */
export interface AddressListener {
  /** An attempt can be made at `ip` and `port` of the searcher, over a link of `source`. */
  located(x: Exchange, service: RuntimeService, target: RuntimeTarget, source: UpstreamSource): void;
  /** No target is available. */
  noTarget(x: Exchange): void;
  /** The name of the target has no address. */
  noAddress(x: Exchange): void;
  /** Runs a step that has no caller that catches. */
  guarded(x: Exchange, step: () => void): void;
}

/**
 * Chooses the target of an attempt, its address and the source of its links: the states `choosing` and `resolving` of
 * attempts.ts. One object for all requests of a worker; balancers read the request through it.
 */
export class Addresses implements BalanceQuery {
  failedTargets: readonly RuntimeTarget[] | null = null;
  admits: ((target: RuntimeTarget) => boolean) | null = null;
  /** The address that was located last. */
  ip = '';
  port = 0;
  #exchange: Exchange | null = null;
  readonly #pools: Pools;
  readonly #names: WorkerResolver;
  readonly #listener: AddressListener;

  constructor(pools: Pools, names: WorkerResolver, listener: AddressListener) {
    this.#pools = pools;
    this.#names = names;
    this.#listener = listener;
  }

  /** Searches the address of the next attempt. */
  search(x: Exchange): void {
    enter(x, AttemptState.choosing);
    const service = x.service as RuntimeService;
    const target = this.#choose(x, service);
    if (target === null) {
      const pending = x.balanced?.pending[x.nameWaits];
      if (pending === undefined) this.#listener.noTarget(x);
      else this.#resolve(x, pending, true);
      return;
    }
    x.target = target;
    const source = this.#locate(x, service, target);
    if (source === null) this.#resolve(x, target.host, false);
    else this.#listener.located(x, service, target, source);
  }

  /** Waits for an address of the name. `pending`: it is one of the names of an upstream that have none. */
  #resolve(x: Exchange, name: string, pending: boolean): void {
    const serial = enter(x, AttemptState.resolving);
    x.nameWaits++;
    const span = x.trace === null ? -1 : x.trace.begin('dns', name);
    this.#names.resolve(name, (found, reason) => {
      x.trace?.end(span, found ? { found } : { found, reason });
      if (!isCurrent(x, serial)) return;
      // The reason continues with the order of the calls, which the trace shows.
      if (!found) x.failureCause = `${name}: ${reason.replace(/\. Tried: .*$/s, '')}`;
      this.#listener.guarded(x, () => this.#resolved(x, found, pending));
    });
  }

  #resolved(x: Exchange, found: boolean, pending: boolean): void {
    // A pending name without an address: the next of them may have one.
    if ((found || pending) && x.nameWaits <= maxNameWaits) this.search(x);
    else if (pending) this.#listener.noTarget(x);
    else this.#listener.noAddress(x);
  }

  /** The target of the next attempt; null: none is available. */
  #choose(x: Exchange, service: RuntimeService): RuntimeTarget | null {
    const { policy } = x;
    const upstream = policy?.upstream ?? service.upstream;
    x.balanced = upstream;
    if (upstream !== null) return this.#balance(x, upstream);
    const { target } = service;
    return policy !== null && policy.admits !== null && !policy.admits(target) ? null : target;
  }

  #balance(x: Exchange, upstream: RuntimeUpstream): RuntimeTarget | null {
    const { trace } = x;
    if (trace === null) return this.#pick(x, upstream);
    const span = trace.begin('balancer', upstream.name);
    const target = this.#pick(x, upstream);
    trace.end(span, target === null ? { failed: true } : { host: target.host, ip: target.ip ?? '', port: target.port });
    return target;
  }

  #pick(x: Exchange, upstream: RuntimeUpstream): RuntimeTarget | null {
    this.#exchange = x;
    this.failedTargets = x.failedTargets;
    this.admits = x.policy === null ? null : x.policy.admits;
    const target = upstream.balancer.pick(this);
    this.#exchange = null;
    return target;
  }

  /** For the balancer. */
  hashInput(source: HashSource): string | null {
    return this.#exchange === null ? null : hashInput(this.#exchange, source);
  }

  /** Sets `ip` and `port` and returns the source of connections; null: the target's name has no known address. */
  #locate(x: Exchange, service: RuntimeService, target: RuntimeTarget): UpstreamSource | null {
    const named = service.tls === null ? null : backendName(x, service);
    if (target.ip === null) return this.#locateName(service, target, named);
    this.ip = target.ip;
    this.port = target.port;
    if (named !== null) return this.#namedSource(service, named);
    if (sharesTargets(x, service)) return this.#source(service, target.host);
    const known = this.#pools.cached(target);
    if (known !== null) return known;
    const source = this.#source(service, target.host);
    this.#pools.cache(target, source);
    return source;
  }

  #locateName(service: RuntimeService, target: RuntimeTarget, named: BackendName | null): UpstreamSource | null {
    const found = this.#names.next(target.host);
    if (found === null) return null;
    this.ip = found.ip;
    // The port of an SRV record overrides that of the service.
    this.port = found.port ?? target.port;
    return named === null ? this.#source(service, service.host) : this.#namedSource(service, named);
  }

  #source({ tls, http2 }: RuntimeService, host: string): UpstreamSource {
    return this.#pools.get(host, this.ip, this.port, tls, http2);
  }

  #namedSource(service: RuntimeService, { name, chosen }: BackendName): UpstreamSource {
    if (!chosen || service.tls === null) return this.#source(service, name);
    return this.#pools.getChosen(name, this.ip, this.port, service.tls, service.http2);
  }
}

/**
 * A target of an upstream can serve several services, which share its pool only where they speak plain HTTP/1.1 to it. Others
 * look their pool up by its key.
 */
function sharesTargets(x: Exchange, service: RuntimeService): boolean {
  return x.balanced !== null && (service.tls !== null || service.http2);
}
