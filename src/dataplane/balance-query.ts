import type { BalanceQuery, HashSource } from '../balancer/balancer.ts';
import type { RuntimeTarget, RuntimeUpstream } from '../snapshot/runtime.ts';
import type { Exchange } from './exchange.ts';
import { hashInput } from './hash-inputs.ts';

/** The exchange as a balancer asks it; one object for all requests of a worker. */
export class ExchangeBalanceQuery implements BalanceQuery {
  failedTargets: readonly RuntimeTarget[] | null = null;
  admits: ((target: RuntimeTarget) => boolean) | null = null;
  #exchange: Exchange | null = null;

  /** The next address of the upstream for this request; null: none is available. */
  pick(x: Exchange, upstream: RuntimeUpstream): RuntimeTarget | null {
    this.#exchange = x;
    this.failedTargets = x.failedTargets;
    this.admits = x.policy === null ? null : x.policy.admits;
    const target = upstream.balancer.pick(this);
    this.#exchange = null;
    return target;
  }

  hashInput(source: HashSource): string | null {
    return this.#exchange === null ? null : hashInput(this.#exchange, source);
  }
}
