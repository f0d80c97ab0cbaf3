import { buildPlan, compareInstances } from './build-plan.ts';
import type { PluginInstance, PluginPlan } from './plan.ts';

/**
 * The plan to continue with when `current` has named the consumer. Kong looks up an instance when its plugin runs and
 * keeps it for all later phases. So plugins that ran before, `current` included, keep their instances, and the later
 * ones are the consumer's.
 */
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
  const instances = [
    ...before.all.filter((instance) => compareInstances(instance, current) <= 0),
    ...after.all.filter((instance) => compareInstances(instance, current) > 0),
  ];
  const plan = buildPlan(instances, after);
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
