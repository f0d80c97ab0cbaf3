import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { schemaListQuery } from '../api/queries.ts';
import { EmptyState } from '../components/states.tsx';
import { type labelOf, summaryOf } from '../config/labels.ts';
import { useCollection, useLabels } from '../config/use-collection.ts';
import { useFields } from '../config/use-fields.ts';
import { examplesOf } from './examples.ts';
import { FieldList } from './field-list.tsx';
import { Markdown } from './markdown.tsx';
import {
  costsQuery,
  durationText,
  failuresQuery,
  instancesQuery,
  type PluginDocs,
  pluginDocsQuery,
} from './plugin-queries.ts';
import './plugins.css';

/** One plugin: its instances, what it costs, examples to begin with, and its README. */
export function PluginPage() {
  const { name } = useParams({ from: '/plugins/$name' });
  const { data: schemas } = useSuspenseQuery(schemaListQuery);
  if (!schemas.plugins.some((plugin) => plugin.name === name)) {
    return (
      <EmptyState title="No such plugin">
        <p>This gateway has no plugin of the name {name}.</p>
        <Link to="/plugins" className="button">
          Plugin catalog
        </Link>
      </EmptyState>
    );
  }
  return <PluginView key={name} name={name} />;
}

function PluginView({ name }: { readonly name: string }) {
  const view = useCollection('plugins');
  const { data: docs } = useSuspenseQuery(pluginDocsQuery(name));
  const mayWrite = view?.mayWrite === true;
  const examples = docs.readme === null ? [] : examplesOf(name, docs.readme);
  return (
    <>
      <div className="page-head">
        <div className="grow">
          <p className="crumbs">
            <Link to="/plugins">Plugin catalog</Link>
          </p>
          <h1>{name}</h1>
          {docs.bundled === false && <Capabilities docs={docs} />}
          <Cost name={name} />
        </div>
        {mayWrite && (
          <Link to="/config/$entity/new" params={{ entity: 'plugins' }} search={{ name }} className="button primary">
            New instance
          </Link>
        )}
      </div>
      <div className="plugin-page">
        <div className="stack plugin-side">
          <Instances name={name} />
          {mayWrite && examples.length > 0 && (
            <section className="card">
              <header className="plugin-card-head">
                <h2>Begin with an example</h2>
              </header>
              <ul className="plugin-list">
                {examples.map(({ title }, at) => (
                  <li key={title}>
                    <Link
                      to="/config/$entity/new"
                      params={{ entity: 'plugins' }}
                      search={{ name, example: String(at) }}
                    >
                      {title}
                    </Link>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </div>
        <article className="card card-pad plugin-docs" aria-label={`Documentation of ${name}`}>
          {docs.readme === null ? <Fields name={name} /> : <Markdown source={withoutTitle(docs.readme)} />}
        </article>
      </div>
    </>
  );
}

const reaches: Readonly<Record<string, string>> = {
  network: 'opens connections of its own',
  store: 'keeps or writes entities',
  files: 'uses files or other programs',
  env: 'reads environment variables',
};

/** What a plugin of the user says that it reaches. The gateway does not enforce it. */
function Capabilities({ docs: { version, capabilities } }: { readonly docs: PluginDocs }) {
  return (
    <p className="small muted plugin-capabilities">
      {version !== undefined && <span>Version {version}. </span>}
      {capabilities == null ? (
        'Trusted code that does not declare what it reaches.'
      ) : (
        <>
          Trusted code. Declared capabilities:{' '}
          {capabilities.length === 0
            ? 'none'
            : capabilities.map((name) => (
                <span key={name} className="badge" title={reaches[name]}>
                  {name}
                </span>
              ))}
        </>
      )}
    </p>
  );
}

/** The page has the name already. */
function withoutTitle(readme: string): string {
  return readme.replace(/^#\s[^\n]*\n/, '');
}

function Fields({ name }: { readonly name: string }) {
  const fields = useFields('plugins', name);
  const config = fields.find((field) => field.name === 'config');
  return (
    <>
      <p className="muted">This plugin has no README. These are the fields of its configuration:</p>
      <FieldList schema={config?.schema ?? {}} />
    </>
  );
}

function Cost({ name }: { readonly name: string }) {
  const { data } = useQuery(costsQuery);
  const cost = data?.data.find(({ plugin }) => plugin === name);
  if (cost === undefined || cost.samples === 0) return null;
  return (
    <p className="small muted">
      {durationText(cost.p50)} a request, {durationText(cost.p99)} for the slowest 1 %. Measured on this node with{' '}
      {cost.samples.toLocaleString()} recorded {cost.samples === 1 ? 'request' : 'requests'}.
    </p>
  );
}

/** Instances that are shown; the list of all has the others. */
const maxShown = 50;

function Instances({ name }: { readonly name: string }) {
  const view = useCollection('plugins');
  const { data } = useQuery(instancesQuery);
  const { data: failures } = useQuery(failuresQuery);
  const rows = (data?.rows ?? []).filter((row) => row['name'] === name);
  return (
    <section className="card">
      <header className="plugin-card-head">
        <h2>Instances {data !== undefined && <span className="badge">{rows.length.toLocaleString()}</span>}</h2>
      </header>
      {data !== undefined && rows.length === 0 && <p className="plugin-list muted">Not in use.</p>}
      {view !== null && rows.length > 0 && (
        <InstanceList view={view} rows={rows.slice(0, maxShown)} failures={failures} />
      )}
      {rows.length > maxShown && (
        <p className="plugin-list">
          <Link to="/config/$entity" params={{ entity: 'plugins' }} search={{ q: name }}>
            All {rows.length.toLocaleString()}
          </Link>
        </p>
      )}
    </section>
  );
}

interface InstanceListProps {
  readonly view: NonNullable<ReturnType<typeof useCollection>>;
  readonly rows: readonly Parameters<typeof labelOf>[0][];
  readonly failures: ReadonlyMap<string, string> | undefined;
}

function InstanceList({ view, rows, failures }: InstanceListProps) {
  const labels = useLabels(view);
  return (
    <ul className="plugin-list">
      {rows.map((row) => {
        const reason = failures?.get(row.id);
        return (
          <li key={row.id}>
            <Link to="/config/$entity/$id" params={{ entity: 'plugins', id: row.id }}>
              {summaryOf('plugins', row, labels)}
            </Link>{' '}
            {row.enabled === false && <span className="badge warn">off</span>}
            {reason !== undefined && <span className="badge danger">failing</span>}
            {reason !== undefined && <p className="small muted">{reason}</p>}
          </li>
        );
      })}
    </ul>
  );
}
