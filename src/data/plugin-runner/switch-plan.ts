import { afterConsumer } from '../../shared/plugin-plan/precedence.ts';
import { buildPlan } from './build-plan.ts';
import type { PluginInstance, PluginPlan } from './plan.ts';

/** The plan to continue with when `current` has named the consumer. */
export function switchPlan(before: PluginPlan, after: PluginPlan, current: PluginInstance): PluginPlan {
  if (before === after || sameUpTo(before, after, current)) return after;
  let known = mergedPlans.get(after);
  if (known === undefined) {
    known = new WeakMap();
    mergedPlans.set(after, known);
  }
  // A plan belongs to a version of the config; merged plans are discarded with it.
  const merged = known.get(before);
  if (merged?.current === current) return merged.plan;
  const plan = buildPlan(afterConsumer(before.all, after.all, current), after);
  known.set(before, { current, plan });
  return plan;
}

const mergedPlans = new WeakMap<PluginPlan, WeakMap<PluginPlan, { current: PluginInstance; plan: PluginPlan }>>();

function sameUpTo(before: PluginPlan, after: PluginPlan, current: PluginInstance): boolean {
  for (let at = 0; at < before.all.length; at++) {
    const instance = before.all[at];
    if (instance !== after.all[at]) return false;
    if (instance === current) return true;
  }
  return false;
}
