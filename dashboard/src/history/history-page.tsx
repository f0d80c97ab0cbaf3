import { useInfiniteQuery, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { nodeQuery, schemaListQuery } from '../api/queries.ts';
import { RelativeTime } from '../components/relative-time.tsx';
import { EmptyState, ErrorState, LoadingState } from '../components/states.tsx';
import { allCollections } from '../config/collections.ts';
import { auditQuery, type HistoryFilters, type Version, versionsQuery } from './queries.ts';
import { summaryOf } from './version-summary.ts';
import './history.css';

const spans: readonly (readonly [value: string, label: string, milliseconds: number])[] = [
  ['hour', 'Last hour', 3_600_000],
  ['day', 'Last day', 86_400_000],
  ['week', 'Last week', 604_800_000],
  ['month', 'Last 30 days', 2_592_000_000],
];

/** All changes of the config, newest first. */
export function HistoryPage() {
  const search = useSearch({ from: '/history' });
  const navigate = useNavigate({ from: '/history' });
  const { data: schemas } = useSuspenseQuery(schemaListQuery);
  const [now] = useState(() => Date.now());
  const span = spans.find(([value]) => value === search.since);
  const filters: HistoryFilters = {
    ...(search.actor === undefined ? {} : { actor: search.actor }),
    ...(search.entity === undefined ? {} : { entity: search.entity }),
    ...(span === undefined ? {} : { since: new Date(now - span[2]).toISOString() }),
  };
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    versionsQuery(filters),
  );
  const pages = data?.pages ?? [];
  const filtered = Object.keys(filters).length > 0;
  const known = new Set(pages.flatMap(({ data: versions }) => versions.flatMap(({ actor }) => actor ?? [])));
  if (search.actor !== undefined) known.add(search.actor);

  function choose(name: keyof typeof search, value: string): void {
    const { [name]: _, ...others } = search;
    void navigate({ search: value === '' ? others : { ...others, [name]: value }, replace: true });
  }

  return (
    <>
      <div className="page-head">
        <h1 className="grow">History</h1>
      </div>
      <HistoryNotes />
      <search className="toolbar">
        <Choice
          label="Who"
          all="Everyone"
          value={search.actor ?? ''}
          options={[...known].sort().map((name) => [name, name] as const)}
          onChange={(value) => choose('actor', value)}
        />
        <Choice
          label="Entity"
          all="All entities"
          value={search.entity ?? ''}
          options={allCollections(schemas)
            .filter(({ info }) => info.in_config)
            .map(({ info, title }) => [info.name, title] as const)}
          onChange={(value) => choose('entity', value)}
        />
        <Choice
          label="Time"
          all="Any time"
          value={search.since ?? ''}
          options={spans.map(([value, label]) => [value, label] as const)}
          onChange={(value) => choose('since', value)}
        />
      </search>
      {error !== null && data === undefined && <ErrorState level={2} error={error} retry={() => void refetch()} />}
      {isPending && <LoadingState label="Loading the history" />}
      {data !== undefined && pages.every(({ data: versions }) => versions.length === 0) && (
        <EmptyState level={2} title={filtered ? 'Nothing matches' : 'No changes yet'}>
          {filtered ? (
            <button type="button" className="button" onClick={() => void navigate({ search: {}, replace: true })}>
              Show all
            </button>
          ) : (
            <p>Each change of the configuration appears here, with its author and the way back.</p>
          )}
        </EmptyState>
      )}
      {pages.some(({ data: versions }) => versions.length > 0) && (
        <div className="card">
          <ol className="versions" aria-label="Changes">
            {pages.map(({ data: versions }) => (
              <VersionRows key={versions[0]?.version ?? 0} versions={versions} />
            ))}
          </ol>
        </div>
      )}
      {hasNextPage && (
        <p>
          <button type="button" className="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {isFetchingNextPage ? 'Loading…' : 'Show older changes'}
          </button>
        </p>
      )}
    </>
  );
}

/** What this node does not keep. */
function HistoryNotes() {
  const { data } = useSuspenseQuery(nodeQuery);
  const { database, audit_log: audit } = data.configuration;
  return (
    <>
      {database === 'off' && (
        <p className="banner">
          This node has no database. The history has the documents that it has loaded; to go back, load an earlier one.
        </p>
      )}
      {(audit === 'off' || audit === false) && (
        <p className="banner">
          The audit is off, so the history does not say from where changes came. The setting is <code>audit_log</code>.
        </p>
      )}
    </>
  );
}

function VersionRows({ versions }: { readonly versions: readonly Version[] }) {
  const { data: records } = useQuery(auditQuery(versions));
  return versions.map((version) => {
    const own = records?.get(version.at) ?? [];
    const origin = own[0]?.client ?? null;
    return (
      <li key={version.version}>
        <Link to="/history/$version" params={{ version: String(version.version) }} className="version-row">
          <span className="grow truncate">{summaryOf(version, own)}</span>
          <span className="small muted truncate">
            {version.actor ?? 'the gateway'}
            {origin !== null && ` from ${origin}`}
          </span>
          <span className="small muted">
            <RelativeTime seconds={Date.parse(version.at) / 1000} />
          </span>
          <span className="badge">{version.version}</span>
        </Link>
      </li>
    );
  });
}

interface ChoiceProps {
  readonly label: string;
  /** Text of the option that chooses nothing. */
  readonly all: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly onChange: (value: string) => void;
}

function Choice({ label, all, value, options, onChange }: ChoiceProps) {
  return (
    <select className="input" aria-label={label} value={value} onChange={({ target }) => onChange(target.value)}>
      <option value="">{all}</option>
      {options.map(([name, text]) => (
        <option key={name} value={name}>
          {text}
        </option>
      ))}
    </select>
  );
}
