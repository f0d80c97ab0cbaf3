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

/**
 * Milliseconds that the backend took to begin its answer, from when it had the whole request: how slowly a client sends is
 * not its doing. Below 0: it has answered before that.
 */
export function backendTime({ body, firstByteMono, attemptStartedMono }: Exchange): number {
  if (body === null) return firstByteMono - attemptStartedMono;
  return body.completeMono === 0 ? -1 : firstByteMono - Math.max(attemptStartedMono, body.completeMono);
}
