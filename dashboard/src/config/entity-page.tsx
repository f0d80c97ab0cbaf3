import { Switch } from '@base-ui/react/switch';
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { Link, useLocation, useParams, useRouter, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import { call } from '../api/client.ts';
import { type Row, rowQuery } from '../api/queries.ts';
import { ChangePanel } from '../changes/change-panel.tsx';
import { offerUndo, useUndo } from '../changes/undo/undo-store.ts';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { RelativeTime } from '../components/relative-time.tsx';
import { EmptyState, LoadingState } from '../components/states.tsx';
import { changesOf, type Value } from '../forms/value.ts';
import { useLateNavigation } from '../layout/late-navigation.ts';
import { EntityForm } from './entity-form.tsx';
import { labelOf } from './labels.ts';
import { Related } from './related.tsx';
import { type CollectionView, useCollection } from './use-collection.ts';
import { useFields } from './use-fields.ts';

const EntityGraph = lazy(() =>
  import('../graph/entity-graph.tsx').then(({ EntityGraph: component }) => ({ default: component })),
);
/** Entities on the way of a request. */
const withGraph: ReadonlySet<string> = new Set(['routes', 'services']);

export function EntityPage() {
  const { entity, id } = useParams({ from: '/config/$entity/$id' });
  const place = useSearch({ from: '/config/$entity/$id' });
  const view = useCollection(entity, place);
  if (view === null || view.path === null) {
    return (
      <EmptyState title="No such page">
        <p>The gateway has no entity of the name {entity} here.</p>
      </EmptyState>
    );
  }
  return <EntityView key={`${entity} ${id}`} view={view} path={view.path} id={id} />;
}

function EntityView({ view, path, id }: { readonly view: CollectionView; readonly path: string; readonly id: string }) {
  const { info, title, one } = view.collection;
  const client = useQueryClient();
  const beginNavigation = useLateNavigation();
  const place = useSearch({ from: '/config/$entity/$id' });
  const { data: row } = useSuspenseQuery(rowQuery(path, id));
  const plugin = info.name === 'plugins' ? String(row['name']) : null;
  const fields = useFields(info.name, plugin);
  const [version, setVersion] = useState(0);
  const [problem, setProblem] = useState<string | null>(null);
  const { count } = useUndo();
  const location = useLocation();
  const router = useRouter();
  const initial = useMemo(
    () =>
      formValue(
        row,
        fields.map(({ name }) => name),
      ),
    [row, fields],
  );
  const url = `${path}/${encodeURIComponent(row.id)}`;

  async function change(body: Value, done: string): Promise<void> {
    let made: number | null = null;
    const onVersion = (number: number | null): void => {
      made = number;
    };
    const changed = await call<Row>('PATCH', url, { body, onVersion });
    client.setQueryData(rowQuery(path, id).queryKey, changed);
    setVersion((before) => before + 1);
    setProblem(null);
    offerUndo({ text: done, version: made, action: 'Undo', page: location.pathname, deletes: null });
    await client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'row' });
  }

  async function remove(): Promise<void> {
    const navigate = beginNavigation();
    let made: number | null = null;
    const onVersion = (number: number | null): void => {
      made = number;
    };
    await call('DELETE', url, { onVersion });
    if (info.path === null && place.parent !== undefined && place.parentId !== undefined) {
      await navigate({ to: '/config/$entity/$id', params: { entity: place.parent, id: place.parentId } });
    } else await navigate({ to: '/config/$entity', params: { entity: info.name } });
    client.removeQueries({ queryKey: rowQuery(path, id).queryKey });
    const text = `Deleted ${one} ${labelOf(row)}.`;
    const page = router.state.location.pathname;
    offerUndo({ text, version: made, action: 'Undo', page, deletes: info.path === null ? null : false });
    await client.invalidateQueries();
  }

  const changed = row.updated_at ?? row.created_at;
  return (
    <>
      <div className="page-head">
        <div className="grow">
          <p className="crumbs">
            {info.path !== null && (
              <Link to="/config/$entity" params={{ entity: info.name }}>
                {title}
              </Link>
            )}
          </p>
          <h1>{labelOf(row)}</h1>
          <p className="small muted">
            <code>{row.id}</code>
            {changed !== undefined && (
              <>
                {' · changed '}
                <RelativeTime seconds={changed} />
              </>
            )}
          </p>
        </div>
        {view.mayWrite && typeof row.enabled === 'boolean' && (
          <span className="row">
            <span id="enabled-label">Enabled</span>
            <Switch.Root
              className="switch"
              aria-labelledby="enabled-label"
              checked={row.enabled}
              onCheckedChange={(enabled) =>
                void change({ enabled }, enabled ? 'Enabled.' : 'Disabled.').catch((error: unknown) =>
                  setProblem(error instanceof Error ? error.message : String(error)),
                )
              }
            >
              <Switch.Thumb className="switch-thumb" />
            </Switch.Root>
          </span>
        )}
        {view.mayWrite && (
          <Link
            to="/config/$entity/new"
            params={{ entity: info.name }}
            search={{ ...place, clone: row.id }}
            className="button"
          >
            Clone
          </Link>
        )}
        {view.mayWrite && (
          <ConfirmDialog
            trigger={
              <button type="button" className="button danger">
                Delete
              </button>
            }
            title={`Delete this ${one}?`}
            action={`Delete ${one}`}
            onConfirm={remove}
          >
            <DeletionText view={view} name={labelOf(row)} />
            <ChangePanel
              {...{ fields, collection: view.collection, all: view.all }}
              before={initial}
              after={null}
              write={{ method: 'DELETE', path: url }}
            />
          </ConfirmDialog>
        )}
      </div>
      <div className="stack">
        {problem !== null && (
          <p className="banner error" role="alert">
            {problem}
          </p>
        )}
        {view.writeProblem !== null && <p className="banner">{view.writeProblem}</p>}
        <EntityForm
          key={`${version} ${count}`}
          fields={fields}
          initial={initial}
          readOnly={!view.mayWrite}
          action="Save"
          isNew={false}
          onSave={(value) => change(changesOf(fields, row, value), 'Saved. All workers of this node use it.')}
          aside={(value) => (
            <ChangePanel
              {...{ fields, collection: view.collection, all: view.all }}
              before={row}
              after={{ ...row, ...value }}
              write={{ method: 'PATCH', path: url, body: changesOf(fields, row, value) }}
            />
          )}
        />
        {withGraph.has(info.name) && (
          <Suspense fallback={<LoadingState />}>
            <EntityGraph entity={info.name} row={row} />
          </Suspense>
        )}
        <Related view={view} row={row} />
      </div>
    </>
  );
}

/** Names what the gateway deletes with it, and what keeps it from being deleted. */
function DeletionText({ view: { collection, all }, name }: { readonly view: CollectionView; readonly name: string }) {
  const referring = all.flatMap(({ info, title }) =>
    info.references
      .filter(({ entity }) => entity === collection.info.name)
      .map(({ on_delete: action }) => ({ title, action })),
  );
  const cascading = referring.filter(({ action }) => action === 'cascade').map(({ title }) => title.toLowerCase());
  const restricting = referring.filter(({ action }) => action === 'restrict').map(({ title }) => title.toLowerCase());
  return (
    <div className="stack">
      <p>
        <strong>{name}</strong> is deleted on all nodes at once.
      </p>
      {cascading.length > 0 && <p>Its {[...new Set(cascading)].join(', ')} are deleted with it.</p>}
      {restricting.length > 0 && <p>While it has {[...new Set(restricting)].join(' or ')}, the gateway refuses.</p>}
    </div>
  );
}

/** Null is unset in a form. */
function formValue(row: Row, names: readonly string[]): Value {
  return Object.fromEntries(names.map((name) => [name, row[name] ?? undefined]));
}
