import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { type PluginInfo, type Row, schemaListQuery } from '../api/queries.ts';
import { EmptyState } from '../components/states.tsx';
import { groupNames, groupOf } from './plugin-groups.ts';
import { costsQuery, durationText, failuresQuery, instancesQuery } from './plugin-queries.ts';
import './plugins.css';

/** All plugins of the node: which are in use, on what, and what they cost. */
export function PluginsPage() {
  const { data: schemas } = useSuspenseQuery(schemaListQuery);
  const { data: instances } = useQuery(instancesQuery);
  const { data: failures } = useQuery(failuresQuery);
  const { data: costs } = useQuery(costsQuery);
  const { q = '', state = 'all' } = useSearch({ from: '/plugins' });
  const navigate = useNavigate({ from: '/plugins' });
  const byPlugin = useMemo(() => Map.groupBy(instances?.rows ?? [], ({ name }) => String(name)), [instances]);
  const costOf = useMemo(() => new Map((costs?.data ?? []).map((cost) => [cost.plugin, cost])), [costs]);
  const shown = schemas.plugins.filter(
    ({ name }) =>
      name.includes(q.trim().toLowerCase()) && (state === 'all' || byPlugin.has(name) === (state === 'used')),
  );
  const groups = Map.groupBy(shown, ({ name }) => groupOf(name));

  function search(next: { readonly q?: string; readonly state?: string }): void {
    const { q: text = q, state: chosen = state } = next;
    void navigate({
      search: { ...(text === '' ? {} : { q: text }), ...(chosen === 'all' ? {} : { state: chosen }) },
      replace: true,
    });
  }

  return (
    <>
      <div className="page-head">
        <h1 className="grow">
          Plugin catalog <span className="badge">{schemas.plugins.length}</span>
        </h1>
      </div>
      <search className="toolbar">
        <input
          className="input"
          type="search"
          aria-label="Search plugins"
          placeholder="Search plugins"
          value={q}
          onChange={({ target }) => search({ q: target.value })}
        />
        <select
          className="input plugin-state"
          aria-label="State"
          value={state}
          onChange={({ target }) => search({ state: target.value })}
        >
          <option value="all">All plugins</option>
          <option value="used">In use</option>
          <option value="unused">Not in use</option>
        </select>
      </search>
      {shown.length === 0 && (
        <EmptyState level={2} title="Nothing matches">
          <button type="button" className="button" onClick={() => search({ q: '', state: 'all' })}>
            Show all
          </button>
        </EmptyState>
      )}
      {groupNames.map((group) => {
        const plugins = groups.get(group);
        if (plugins === undefined) return null;
        return (
          <section key={group} className="plugin-group">
            <h2>{group}</h2>
            <ul className="catalog">
              {plugins.map((plugin) => {
                const rows = byPlugin.get(plugin.name) ?? [];
                const cost = costOf.get(plugin.name);
                return (
                  <li key={plugin.name}>
                    <Link to="/plugins/$name" params={{ name: plugin.name }} className="card">
                      <strong>{plugin.name}</strong>
                      <PluginState plugin={plugin} rows={rows} failures={failures ?? noFailures} />
                      {cost !== undefined && cost.samples > 0 && (
                        <span className="small muted">{durationText(cost.p50)} a request</span>
                      )}
                    </Link>
                  </li>
                );
              })}
            </ul>
          </section>
        );
      })}
      {instances?.complete === false && (
        <p className="banner" role="status">
          Only the first {instances.rows.length.toLocaleString()} instances are counted.
        </p>
      )}
    </>
  );
}

const noFailures: ReadonlyMap<string, string> = new Map();

interface PluginStateProps {
  readonly plugin: PluginInfo;
  readonly rows: readonly Row[];
  readonly failures: ReadonlyMap<string, string>;
}

function PluginState({ plugin, rows, failures }: PluginStateProps) {
  if (rows.length === 0) {
    return <span className="small muted">{['global', ...plugin.scopes].join(', ')}</span>;
  }
  const off = rows.filter(({ enabled }) => enabled === false).length;
  const failing = rows.filter(({ id }) => failures.has(id)).length;
  return (
    <span className="chips small">
      <span className="badge ok">{rows.length === 1 ? 'in use' : `${rows.length.toLocaleString()} in use`}</span>
      <span className="muted">{placesOf(rows)}</span>
      {off > 0 && <span className="badge warn">{off} off</span>}
      {failing > 0 && <span className="badge danger">{failing} failing</span>}
    </span>
  );
}

/** `global, 2 routes`. */
export function placesOf(rows: readonly Row[]): string {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const scope = ['consumer', 'route', 'service'].find((field) => row[field] !== null && row[field] !== undefined);
    counts.set(scope ?? 'global', (counts.get(scope ?? 'global') ?? 0) + 1);
  }
  return [...counts]
    .map(([scope, count]) =>
      scope === 'global' ? 'global' : `${count.toLocaleString()} ${scope}${count === 1 ? '' : 's'}`,
    )
    .join(', ');
}
