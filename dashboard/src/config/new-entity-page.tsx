import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { Link, useParams, useRouter, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { call } from '../api/client.ts';
import { callerQuery, type Row, rowQuery } from '../api/queries.ts';
import { ChangePanel } from '../changes/change-panel.tsx';
import { offerUndo } from '../changes/undo/undo-store.ts';
import { EmptyState } from '../components/states.tsx';
import { bodyOf, copyOf, type Value } from '../forms/value.ts';
import { useLateNavigation } from '../layout/late-navigation.ts';
import { exampleValue } from '../plugins/example-value.ts';
import { examplesOf } from '../plugins/examples.ts';
import { pluginDocsQuery } from '../plugins/plugin-queries.ts';
import { signIn } from '../session/session.ts';
import { EntityForm } from './entity-form.tsx';
import { labelOf } from './labels.ts';
import { PluginCatalog } from './plugin-catalog.tsx';
import { type CollectionView, type Parent, useCollection } from './use-collection.ts';
import { useFields } from './use-fields.ts';

export function NewEntityPage() {
  const { entity } = useParams({ from: '/config/$entity/new' });
  const { name, clone, example, parent, parentId } = useSearch({ from: '/config/$entity/new' });
  const place: Parent = {
    ...(parent === undefined ? {} : { parent }),
    ...(parentId === undefined ? {} : { parentId }),
  };
  const view = useCollection(entity, place);
  if (view === null || view.path === null) {
    return (
      <EmptyState title="No such form">
        <p>The gateway has no entity of the name {entity} here.</p>
      </EmptyState>
    );
  }
  const path = view.path;
  if (entity === 'plugins' && name === undefined && clone === undefined) return <PluginCatalog place={place} />;
  if (entity === 'plugins' && name !== undefined && example !== undefined)
    return (
      <ExampleForm
        key={`${name} ${example}`}
        view={view}
        path={path}
        plugin={name}
        at={Number(example)}
        place={place}
      />
    );
  if (clone !== undefined) return <CloneForm view={view} path={path} id={clone} />;
  return <NewForm key={name ?? ''} view={view} path={path} plugin={name ?? null} before={parentValue(view, place)} />;
}

/** The reference to the entity from which the form was opened. */
function parentValue({ collection }: CollectionView, { parent, parentId }: Parent): Value {
  const field = collection.info.references.find(({ entity }) => entity === parent)?.field;
  return field === undefined || parentId === undefined ? {} : { [field]: { id: parentId } };
}

function CloneForm({ view, path, id }: { readonly view: CollectionView; readonly path: string; readonly id: string }) {
  const { data: row } = useSuspenseQuery(rowQuery(path, id));
  const plugin = view.collection.info.name === 'plugins' ? String(row['name']) : null;
  const fields = useFields(view.collection.info.name, plugin);
  const before = useMemo(() => copyOf(row, fields), [row, fields]);
  return <NewForm view={view} path={path} plugin={plugin} before={before} />;
}

interface ExampleFormProps {
  readonly view: CollectionView;
  readonly path: string;
  readonly plugin: string;
  readonly at: number;
  readonly place: Parent;
}

/** The form of a plugin with the values of an example of its README. */
function ExampleForm({ view, path, plugin, at, place }: ExampleFormProps) {
  const { data: docs } = useSuspenseQuery(pluginDocsQuery(plugin));
  const fields = useFields('plugins', plugin);
  const before = useMemo(() => {
    const config = fields.find(({ name }) => name === 'config')?.schema;
    const example = examplesOf(plugin, docs.readme ?? '')[at];
    const given = parentValue(view, place);
    return example === undefined || config === undefined
      ? given
      : { ...given, config: exampleValue(example.config, config) };
  }, [docs, fields, plugin, at, view, place]);
  return <NewForm view={view} path={path} plugin={plugin} before={before} />;
}

interface NewFormProps {
  readonly view: CollectionView;
  readonly path: string;
  readonly plugin: string | null;
  readonly before: Value;
}

function NewForm({ view, path, plugin, before }: NewFormProps) {
  const { info, title, one } = view.collection;
  const fields = useFields(info.name, plugin);
  const client = useQueryClient();
  const beginNavigation = useLateNavigation();
  const router = useRouter();
  const { data: caller } = useSuspenseQuery(callerQuery);
  const [token, setToken] = useState<string | null>(null);
  const { parent, parentId } = useSearch({ from: '/config/$entity/new' });

  function bodyFor(value: Value): Value {
    return { ...(bodyOf(value) as Value), ...(plugin === null ? {} : { name: plugin }) };
  }

  async function save(value: Value): Promise<void> {
    const navigate = beginNavigation();
    const body = bodyFor(value);
    let made: number | null = null;
    const onVersion = (number: number | null): void => {
      made = number;
    };
    const created = await call<Row>('POST', path, { body, onVersion });
    const issued = created['token'];
    // From the first admin user on, everyone has to sign in.
    if (typeof issued === 'string' && info.name === 'admin_users') {
      if (caller.kind === 'anonymous') signIn(issued);
      setToken(issued);
      return;
    }
    await client.invalidateQueries();
    if (info.path !== null)
      await navigate({ to: '/config/$entity/$id', params: { entity: info.name, id: created.id } });
    else if (parent !== undefined && parentId !== undefined) {
      await navigate({ to: '/config/$entity/$id', params: { entity: parent, id: parentId } });
    }
    const text = `Created ${one} ${labelOf(created)}.`;
    const { pathname } = router.state.location;
    offerUndo({ text, version: made, action: 'Undo', page: pathname, deletes: info.path === null ? null : true });
  }

  if (token !== null) return <IssuedToken token={token} />;
  return (
    <>
      <div className="page-head">
        <div className="grow">
          <p className="crumbs">
            {info.path === null ? (
              <span>{title}</span>
            ) : (
              <Link to="/config/$entity" params={{ entity: info.name }}>
                {title}
              </Link>
            )}
          </p>
          <h1>
            New {one}
            {plugin !== null && `: ${plugin}`}
          </h1>
          {plugin !== null && (
            <p className="small">
              <Link to="/plugins/$name" params={{ name: plugin }}>
                Documentation and examples
              </Link>
            </p>
          )}
        </div>
      </div>
      <EntityForm
        fields={fields}
        initial={before}
        readOnly={!view.mayWrite}
        action={`Create ${one}`}
        isNew
        onSave={save}
        aside={(value) =>
          Object.keys(bodyOf(value) as Value).length > 0 && (
            <ChangePanel
              {...{ fields, collection: view.collection, all: view.all }}
              before={null}
              after={bodyFor(value)}
              write={{ method: 'POST', path, body: bodyFor(value) }}
            />
          )
        }
      />
    </>
  );
}

function IssuedToken({ token }: { readonly token: string }) {
  return (
    <div className="card card-pad stack">
      <h1>The admin user was created</h1>
      <p>This is its token. It is shown only now, so store it in a safe place:</p>
      <p>
        <code>{token}</code>
      </p>
      <p>From now on everyone needs a token. This session already uses it.</p>
      <div>
        <Link to="/config/$entity" params={{ entity: 'admin_users' }} className="button primary">
          Continue
        </Link>
      </div>
    </div>
  );
}
