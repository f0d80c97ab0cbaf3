import type { Exchange } from '../dataplane/exchange.ts';
import { RequestContext } from '../dataplane/request-context.ts';
import { holdInstances, releaseInstances } from './instances.ts';
import type { PluginPlan } from './plan.ts';

/** Plans whose instances an exchange keeps from being disposed of. Most plans have none that could be. */
const heldPlans = new WeakMap<Exchange, Set<PluginPlan>>();

/**
 * Makes the exchange's context, and sees to it that the instances of its plan outlive it. To be called when a plan that
 * is not empty was chosen, before anything that takes time. `runLog` ends it.
 */
export function beginPlugins(exchange: Exchange): RequestContext {
  exchange.context ??= new RequestContext(exchange);
  holdPlan(exchange);
  return exchange.context;
}

/** Holds the plan that the exchange goes on with. */
export function holdPlan(exchange: Exchange): void {
  const { plan } = exchange;
  if (plan.leased.length === 0) return;
  let held = heldPlans.get(exchange);
  if (held === undefined) {
    held = new Set();
    heldPlans.set(exchange, held);
  }
  if (held.has(plan)) return;
  held.add(plan);
  holdInstances(plan.leased);
}

/** The exchange is over. */
export function endPlugins(exchange: Exchange): void {
  const held = heldPlans.get(exchange);
  if (held === undefined) return;
  heldPlans.delete(exchange);
  for (const plan of held) releaseInstances(plan.leased);
}
