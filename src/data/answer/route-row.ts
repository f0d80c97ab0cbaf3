import { shownField } from '../../shared/logs/masked-arguments.ts';
import { cachedOmitNulls } from '../../shared/util/omit-nulls.ts';
import type { PluginPlan } from '../plugin-runner/plan.ts';
import type { RuntimeRoute } from '../snapshot/runtime.ts';

type Fields = Readonly<Record<string, unknown>>;

const known = new WeakMap<Fields, WeakMap<PluginPlan, Fields>>();

/** The row of a route as logs may show it: a header condition can contain a key. Made once for each plan, and frozen. */
export function shownRouteRow({ row }: Pick<RuntimeRoute, 'row'>, plan: PluginPlan): Fields {
  const shown = cachedOmitNulls(row);
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

/** The name of a condition's header in the form that names of secrets have. */
export function conditionField(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}
