import type { OtherRoute, RouteCondition, RouterView } from '../records.ts';
import { visibleText } from '../visible-text.ts';
import { WireText } from '../wire-text.tsx';
import { EntityLink } from './request-facts.tsx';

/** Routes that are shown at first. */
const firstRoutes = 5;

/** Which route matched, and why the nearest others did not. */
export function RequestRouting({ router }: { readonly router: RouterView | null }) {
  return (
    <section className="card" aria-labelledby="routing">
      <h2 id="routing">Route</h2>
      {router === null ? (
        <p>The request was answered before it was routed.</p>
      ) : (
        <>
          <Matched router={router} />
          {router.disabled.map((route) => (
            <p key={route.id}>
              <EntityLink entity="routes" {...nameOf(route)} /> would match, but its service is disabled.
            </p>
          ))}
          <Others router={router} />
        </>
      )}
    </section>
  );
}

function Matched({ router: { matched, routes } }: { readonly router: RouterView }) {
  if (matched === null) {
    return <p>{routes === 0 ? 'The gateway has no route.' : `None of ${routes.toLocaleString()} routes matched.`}</p>;
  }
  return (
    <div>
      <p>
        <EntityLink entity="routes" {...nameOf(matched)} /> matched, one of {routes.toLocaleString()}.
      </p>
      {matched.conditions.length > 0 && (
        <table className="data-table">
          <thead>
            <tr>
              <th scope="col">Condition</th>
              <th scope="col">The request has</th>
              <th scope="col">The route wants</th>
            </tr>
          </thead>
          <tbody>
            {matched.conditions.map((condition) => (
              <tr key={conditionName(condition)}>
                <th scope="row">{visibleText(conditionName(condition))}</th>
                <td className="mono">
                  <Values values={condition.got} />
                </td>
                <td className="mono">
                  <Values values={condition.wanted} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

function Others({ router: { others, matched } }: { readonly router: RouterView }) {
  if (others === null) return <p className="small muted">The other routes were not compared for this record.</p>;
  if (others.length === 0) return null;
  const title = matched === null ? 'The nearest routes, and what they want' : 'Other routes';
  const rows = (routes: readonly OtherRoute[]) => (
    <table className="data-table">
      <thead>
        <tr>
          <th scope="col">Route</th>
          <th scope="col">Why it did not match</th>
        </tr>
      </thead>
      <tbody>
        {routes.map((route) => (
          <tr key={route.id}>
            <th scope="row">
              <EntityLink entity="routes" {...nameOf(route)} />
            </th>
            <td>
              <WhyNot route={route} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
  const rest = others.slice(firstRoutes);
  return (
    <>
      <h3>{title}</h3>
      {rows(others.slice(0, firstRoutes))}
      {rest.length > 0 && (
        <details className="more">
          <summary>{rest.length} more</summary>
          {rows(rest)}
        </details>
      )}
    </>
  );
}

function WhyNot({ route: { failed, but, more_failures: more = 0, met = [] } }: { readonly route: OtherRoute }) {
  if (failed === undefined) return <>Matches too, but {visibleText(but ?? 'ranks lower')}</>;
  return (
    <>
      The {visibleText(conditionName(failed))}{' '}
      <span className="mono">
        <Values values={failed.got} />
      </span>{' '}
      {failed.condition === 'path' ? isNotBelow(failed) : 'is not'}{' '}
      <span className="mono">
        <Values values={failed.wanted} />
      </span>
      {more > 0 && `, and ${more} more ${more === 1 ? 'condition fails' : 'conditions fail'}`}
      {met.length > 0 && <span className="muted"> (its {met.map(visibleText).join(', ')} is met)</span>}
    </>
  );
}

function isNotBelow({ wanted }: RouteCondition): string {
  return wanted[0]?.startsWith('~') === true ? 'does not match' : 'is not below';
}

function Values({ values }: { readonly values: readonly string[] }) {
  if (values.length === 0) return <span className="muted">none</span>;
  return values.map((value, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the values of a record do not change
    <span key={at}>
      {at > 0 && ', '}
      <WireText text={value} max={200} />
    </span>
  ));
}

function conditionName({ condition, header }: RouteCondition): string {
  return header === undefined ? condition : `${condition} ${header}`;
}

function nameOf({
  id,
  name,
  paths,
}: {
  readonly id: string;
  readonly name: string | null;
  readonly paths: readonly string[];
}) {
  return { id, name: name ?? (paths.length > 0 ? paths.slice(0, 3).join(', ') : null) };
}
