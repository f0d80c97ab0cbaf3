import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useDeferredValue, useMemo } from 'react';
import { type Row, rowsQuery } from '../api/queries.ts';
import { EmptyState, ErrorState, LoadingState } from '../components/states.tsx';
import { EntityTable } from './entity-table.tsx';
import { searchText, summaryOf } from './labels.ts';
import { type CollectionView, useCollection, useLabels } from './use-collection.ts';

export function EntityListPage() {
  const { entity } = useParams({ from: '/config/$entity' });
  const view = useCollection(entity);
  if (view === null || view.path === null) {
    return (
      <EmptyState title="No such list">
        <p>The gateway has no entity of the name {entity}.</p>
      </EmptyState>
    );
  }
  return <EntityList key={entity} view={view} path={view.path} />;
}

function EntityList({ view, path }: { readonly view: CollectionView; readonly path: string }) {
  const { collection } = view;
  const { title, one, info } = collection;
  const { q = '', tag } = useSearch({ from: '/config/$entity' });
  const navigate = useNavigate({ from: '/config/$entity' });
  const labels = useLabels(view);
  const { data, error, isPending, refetch } = useQuery(rowsQuery(path));
  const searched = useDeferredValue(q.trim().toLowerCase());
  const rows = useMemo(() => {
    const entries = (data?.rows ?? []).map((row) => {
      const summary = summaryOf(info.name, row, labels);
      return { row, summary, text: searchText(row, summary) };
    });
    const words = searched.split(/\s+/);
    return entries.filter(
      ({ row, text }) =>
        (tag === undefined || (row.tags ?? []).includes(tag)) && words.every((word) => text.includes(word)),
    );
  }, [data, labels, searched, tag, info.name]);
  const tags = useMemo(() => tagsOf(data?.rows ?? []), [data]);

  function search(next: { readonly q?: string; readonly tag?: string }): void {
    void navigate({ search: next, replace: true });
  }

  return (
    <>
      <div className="page-head">
        <h1 className="grow">
          {title} {data !== undefined && <span className="badge">{data.rows.length.toLocaleString()}</span>}
        </h1>
        {view.mayWrite && (
          <Link to="/config/$entity/new" params={{ entity: info.name }} className="button primary">
            New {one}
          </Link>
        )}
      </div>
      {error !== null && data === undefined && <ErrorState level={2} error={error} retry={() => void refetch()} />}
      {isPending && <LoadingState label={`Loading ${title}`} />}
      {data !== undefined && data.rows.length === 0 && <NoRows view={view} />}
      {data !== undefined && data.rows.length > 0 && (
        <>
          <search className="toolbar">
            <input
              className="input"
              type="search"
              aria-label={`Search ${title}`}
              placeholder={`Search ${title.toLowerCase()} by name, id, tag or content`}
              value={q}
              onChange={({ target }) =>
                search({ ...(target.value === '' ? {} : { q: target.value }), ...(tag === undefined ? {} : { tag }) })
              }
            />
            {tags.length > 0 && (
              <select
                className="input"
                style={{ flex: '0 1 12rem' }}
                aria-label="Tag"
                value={tag ?? ''}
                onChange={({ target }) =>
                  search({ ...(q === '' ? {} : { q }), ...(target.value === '' ? {} : { tag: target.value }) })
                }
              >
                <option value="">All tags</option>
                {tags.map((name) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </search>
          {!data.complete && (
            <p className="banner" role="status">
              These are the first {data.rows.length.toLocaleString()}. The search covers only them.
            </p>
          )}
          {rows.length === 0 ? (
            <EmptyState level={2} title="Nothing matches">
              <button type="button" className="button" onClick={() => search({})}>
                Show all
              </button>
            </EmptyState>
          ) : (
            <EntityTable entity={info.name} rows={rows} label={title} />
          )}
        </>
      )}
    </>
  );
}

function NoRows({ view: { collection, mayWrite } }: { readonly view: CollectionView }) {
  const { title, one, info } = collection;
  return (
    <div className="card">
      <EmptyState level={2} title={`No ${title.toLowerCase()} yet`}>
        <p>{purposes[info.name] ?? `There is no ${one} on this gateway.`}</p>
        {mayWrite && (
          <Link to="/config/$entity/new" params={{ entity: info.name }} className="button primary">
            Create the first {one}
          </Link>
        )}
      </EmptyState>
    </div>
  );
}

const purposes: Readonly<Record<string, string>> = {
  services: 'A service is a backend: the address to which the gateway forwards requests.',
  routes: 'A route decides which requests go to a service: by path, host, method or header.',
  plugins: 'A plugin does something with requests and answers: checks a key, limits a rate, changes headers.',
  upstreams: 'An upstream is a name that stands for several targets, with load balancing and health checks.',
  consumers: 'A consumer is a client of your APIs. It has credentials, and limits can be per consumer.',
  certificates: 'A certificate with its key, for the names of its SNIs.',
  ca_certificates: 'An authority that signs certificates of backends or clients.',
  admin_users:
    'Without admin users everyone who reaches the Admin API controls the gateway. The first one must be an admin; from then on everyone signs in.',
};

function tagsOf(rows: readonly Row[]): readonly string[] {
  return [...new Set(rows.flatMap(({ tags }) => tags ?? []))].sort();
}
