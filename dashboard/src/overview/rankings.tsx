import type { ReactNode } from 'react';
import { countText, durationText } from './numbers.ts';
import type { Named, UsageRow } from './overview-data.ts';
import { type SortName, sorts } from './ranges.ts';
import { EntityLink, nameOf, others, slowerThan, TrafficLink, trafficOf } from './traffic-link.tsx';

const kinds = {
  routes: { one: 'route', title: 'Routes', none: 'No route' },
  services: { one: 'service', title: 'Services', none: 'No service' },
  consumers: { one: 'consumer', title: 'Consumers', none: 'No consumer' },
} as const;
export type RankingKind = keyof typeof kinds;

const sortTitles: Readonly<Record<SortName, string>> = { requests: 'Requests', errors: 'Errors', latency: 'Latency' };

interface SortChoiceProps {
  readonly sort: SortName;
  readonly onChange: (sort: SortName) => void;
}

export function SortChoice({ sort, onChange }: SortChoiceProps) {
  return (
    <fieldset className="ov-choice">
      <legend className="visually-hidden">The first by</legend>
      {sorts.map((name) => (
        <label key={name}>
          <input type="radio" name="sort" checked={name === sort} onChange={() => onChange(name)} />
          {sortTitles[name]}
        </label>
      ))}
    </fieldset>
  );
}

interface RankingProps {
  readonly kind: RankingKind;
  readonly sort: SortName;
  readonly rows: readonly UsageRow[];
  /** In a sentence: `in the last hour`. */
  readonly period: string;
}

/** The first routes, services or consumers. */
export function Ranking({ kind, sort, rows, period }: RankingProps) {
  const { one, title, none } = kinds[kind];
  // Those that measure 0 are no answer to the question.
  const shown = sort === 'errors' ? rows.filter(({ errors }) => errors['4xx'] + errors['5xx'] > 0) : rows;
  return (
    <section className="card ov-list" aria-labelledby={`ranking-${kind}`}>
      <h3 id={`ranking-${kind}`}>{title}</h3>
      {shown.length === 0 ? (
        <p className="ov-none">
          {sort === 'errors' ? 'No errors' : 'No requests'} in {period}.
        </p>
      ) : (
        <table className="ov-table">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <Column name="requests" sort={sort}>
                Requests
              </Column>
              <Column name="errors" sort={sort}>
                Errors
              </Column>
              <Column name="latency" sort={sort}>
                p95
              </Column>
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <RankingRow key={row[one]?.id ?? ''} kind={kind} row={row} none={none} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Column({
  name,
  sort,
  children,
}: {
  readonly name: SortName;
  readonly sort: SortName;
  readonly children: ReactNode;
}) {
  return (
    <th scope="col" className="number" {...(name === sort ? { 'aria-sort': 'descending' } : {})}>
      {children}
    </th>
  );
}

function RankingRow({
  kind,
  row,
  none,
}: {
  readonly kind: RankingKind;
  readonly row: UsageRow;
  readonly none: string;
}) {
  const { one } = kinds[kind];
  const entity: Named | null = row[one] ?? null;
  const search = trafficOf(one, entity);
  const errors = row.errors['4xx'] + row.errors['5xx'];
  const p95 = row.latency?.p95 ?? null;
  const number = (text: string, more: Parameters<typeof TrafficLink>[0]['search']): ReactNode =>
    search === null ? text : <TrafficLink search={{ ...search, ...more }}>{text}</TrafficLink>;
  return (
    <tr>
      <th scope="row">
        {entity === null ? (
          <span className="muted">{none}</span>
        ) : entity.id === others ? (
          <span className="muted">All others</span>
        ) : (
          <EntityLink entity={kind} id={entity.id}>
            {nameOf(entity)}
          </EntityLink>
        )}
      </th>
      <td className="number">{number(countText(row.requests), {})}</td>
      <td className={errors > 0 ? 'number bad' : 'number'}>
        {errors === 0 ? '0' : number(countText(errors), { status: '4xx,5xx' })}
      </td>
      <td className="number">{p95 === null ? '–' : number(durationText(p95), slowerThan(p95))}</td>
    </tr>
  );
}
