import type { PluginPlan } from '../plugin-runner/plan.ts';
import type { RuntimeRoute } from '../snapshot/runtime.ts';
import { rowWithoutNulls } from '../util/without-nulls.ts';
import { shownField } from './masked-arguments.ts';

type Fields = Readonly<Record<string, unknown>>;

const known = new WeakMap<Fields, WeakMap<PluginPlan, Fields>>();

/** The row of a route as logs may show it: one can ask for a key in a header. Made once for each plan, and frozen. */
export function shownRouteRow({ row }: Pick<RuntimeRoute, 'row'>, plan: PluginPlan): Fields {
  const shown = rowWithoutNulls(row);
  const { headers } = shown;
  if (typeof headers !== 'object' || headers === null) return shown;
  let byPlan = known.get(row);
  if (byPlan === undefined) {
    byPlan = new WeakMap();
    known.set(row, byPlan);
  }
  let made = byPlan.get(plan);
  if (made === undefined) {
    made = Object.freeze({ ...shown, headers: maskedConditions(headers as Fields, plan) });
    byPlan.set(plan, made);
  }
  return made;
}

function maskedConditions(headers: Fields, plan: PluginPlan): Fields {
  return Object.fromEntries(
    Object.entries(headers).map(([name, values]) => {
      const field = conditionField(name);
      return [name, Array.isArray(values) ? values.map((value) => shownField(field, String(value), plan)) : values];
    }),
  );
}

/** The name of a header of a condition, as secrets are known by it. */
export function conditionField(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}
