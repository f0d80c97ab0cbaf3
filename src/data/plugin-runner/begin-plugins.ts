import type { Exchange, PluginContext } from '../request/exchange.ts';
import { RequestContext } from '../request/request-context.ts';
import { holdInstances, releaseInstances } from './instances.ts';

/** One of so many requests with plugins is timed: reading the clock twice for each call would cost more than most calls. */
const sampledRate = 64;
let turn = 0;

/**
 * Creates the exchange's context, and keeps the instances of its plan from being disposed of. Call this when a plan
 * that is not empty was chosen, before anything that takes time. `runLog` ends it.
 */
export function beginPlugins(exchange: Exchange): PluginContext {
  if (exchange.context === null) {
    exchange.context = new RequestContext(exchange);
    turn = (turn + 1) % sampledRate;
    exchange.timed = turn === 0;
  }
  holdPlan(exchange);
  return exchange.context;
}

/** Holds the plan that the exchange continues with. Most have no instance that could be disposed of. */
export function holdPlan(exchange: Exchange): void {
  const { plan } = exchange;
  if (plan.leased.length === 0 || exchange.heldPlan === plan) return;
  if (exchange.heldPlan === null) exchange.heldPlan = plan;
  else {
    exchange.moreHeldPlans ??= [];
    if (exchange.moreHeldPlans.includes(plan)) return;
    exchange.moreHeldPlans.push(plan);
  }
  holdInstances(plan.leased);
}

/** The exchange is over. */
export function endPlugins(exchange: Exchange): void {
  const { heldPlan, moreHeldPlans } = exchange;
  if (heldPlan === null) return;
  exchange.heldPlan = null;
  exchange.moreHeldPlans = null;
  releaseInstances(heldPlan.leased);
  if (moreHeldPlans !== null) for (const plan of moreHeldPlans) releaseInstances(plan.leased);
}
