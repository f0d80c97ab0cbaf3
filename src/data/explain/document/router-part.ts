import { shownField } from '../../../shared/logs/masked-arguments.ts';
import { utf8FromLatin1 } from '../../../shared/util/bytes/latin1.ts';
import { conditionField } from '../../answer/route-row.ts';
import type { Exchange } from '../../request/exchange.ts';
import type { ExplainedCondition, ExplainedRoute } from '../../router/explain-match.ts';
import type { RouteExplanation, RuntimeRoute } from '../../snapshot/runtime.ts';

interface ShownCondition {
  readonly condition: string;
  readonly header?: string;
  readonly wanted: readonly string[];
  readonly got: readonly string[];
}

/** Maximum values of one condition that are reported. */
const maxValues = 20;
/** Maximum characters of each. */
const maxValueLength = 500;

/** Which route matched and why, and why others did not. Null: the router did not run. */
export function routerPart(x: Exchange, match: RouteExplanation | null): Readonly<Record<string, unknown>> | null {
  if (match === null) return null;
  const { matched, others, routes, disabled } = match;
  return {
    routes,
    matched:
      matched === null
        ? null
        : {
            ...named(matched),
            conditions: matched.met.map((one) => shown(x, one)),
            strip_path: matched.route.stripPath,
            preserve_host: matched.route.preserveHost,
            captures: { ...x.captures?.groups },
          },
    others: others.map((one) => other(x, one)),
    disabled: disabled.map(({ id, name, paths }) => ({ id, name, paths: paths ?? [] })),
  };
}

function other(x: Exchange, route: ExplainedRoute<RuntimeRoute>): Readonly<Record<string, unknown>> {
  const { failed, failures, met, outranked } = route;
  if (failed === null) return { ...named(route), matches_too: true, but: outranked };
  return {
    ...named(route),
    matches_too: false,
    failed: shown(x, failed),
    more_failures: failures - 1,
    met: met.map(({ kind, name }) => (kind === 'header' ? `header ${name}` : kind)),
  };
}

function named({ route }: ExplainedRoute<RuntimeRoute>): Readonly<Record<string, unknown>> {
  return {
    id: route.id,
    name: route.name,
    paths: route.paths ?? [],
    service: route.service?.name ?? route.service?.id ?? null,
  };
}

function shown(x: Exchange, { kind, name, wanted, got }: ExplainedCondition): ShownCondition {
  if (kind !== 'header') return { condition: kind, wanted: capped(wanted), got: capped(got, utf8FromLatin1) };
  // The condition of a route may contain a key, or what plugins mask.
  const field = conditionField(name);
  const hidden = (values: readonly string[]): readonly string[] =>
    capped(values, (value) => shownField(field, value, x.plan));
  return { condition: kind, header: name, wanted: hidden(wanted), got: hidden(got) };
}

function capped(values: readonly string[], show = (value: string) => value): readonly string[] {
  const shown = values.slice(0, maxValues).map((value) => show(value).slice(0, maxValueLength));
  return values.length <= maxValues ? shown : [...shown, `and ${values.length - maxValues} more`];
}
