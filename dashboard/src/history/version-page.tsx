import { useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { ApiError, call } from '../api/client.ts';
import { callerQuery, nodeQuery } from '../api/queries.ts';
import { CodeTabs } from '../changes/code/code-tabs.tsx';
import { Effect } from '../changes/effect.tsx';
import { offerUndo } from '../changes/undo/undo-store.ts';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { RelativeTime } from '../components/relative-time.tsx';
import { EmptyState, ErrorState, LoadingState } from '../components/states.tsx';
import { ChangeList } from './change-list.tsx';
import { auditQuery, diffQuery, rollbackQuery, type VersionWithChanges, versionQuery } from './queries.ts';
import { titleOf } from './version-summary.ts';
import '../changes/changes.css';
import './history.css';

/** One version of the config: what it changed, or what leads from another version to it. */
export function VersionPage() {
  const { version } = useParams({ from: '/history/$version' });
  const { against } = useSearch({ from: '/history/$version' });
  const { data, error, refetch } = useQuery(versionQuery(version));
  if (error instanceof ApiError && error.status === 404) {
    return (
      <EmptyState title="This version is not kept">
        <p>
          The settings <code>config_history</code> and <code>config_history_retention</code> limit what is kept.
        </p>
        <Link to="/history" className="button">
          All changes
        </Link>
      </EmptyState>
    );
  }
  if (error !== null && data === undefined) return <ErrorState error={error} retry={() => void refetch()} />;
  if (data === undefined) return <LoadingState label="Loading the version" />;
  return <VersionView key={version} version={data} against={against ?? null} />;
}

function VersionView({ version, against }: { readonly version: VersionWithChanges; readonly against: string | null }) {
  const number = String(version.version);
  const { data: records } = useQuery(auditQuery([version]));
  const origin = records?.get(version.at)?.[0];
  const trimmed = version.changes.length === 0 && version.created + version.updated + version.deleted > 0;
  return (
    <>
      <div className="page-head">
        <div className="grow">
          <p className="crumbs">
            <Link to="/history">History</Link>
          </p>
          <h1>Version {number}</h1>
          <p className="small muted">
            {titleOf(version)}
            {version.note !== null && ` (${version.note})`} by {version.actor ?? 'the gateway'}
            {origin?.client != null && ` from ${origin.client}`}
            {' · '}
            <RelativeTime seconds={Date.parse(version.at) / 1000} />
            {origin !== undefined && (
              <>
                {' · '}
                <code>
                  {origin.method} {origin.path}
                </code>
              </>
            )}
          </p>
        </div>
        <WaysBack version={number} undoable={version.changes.length > 0} />
      </div>
      <Comparison version={number} against={against} />
      {against !== null ? (
        <Differences version={number} against={against} />
      ) : trimmed ? (
        <p className="banner">What this version changed is no longer kept. You can still roll back to it.</p>
      ) : version.action === 'start' ? (
        <p className="banner">The history begins with this state.</p>
      ) : (
        <ChangeList shown={version} />
      )}
    </>
  );
}

function Comparison({ version, against }: { readonly version: string; readonly against: string | null }) {
  const navigate = useNavigate({ from: '/history/$version' });
  const [text, setText] = useState(against !== null && against !== 'current' ? against : '');
  function show(next: string | null): void {
    void navigate({ to: '/history/$version', params: { version }, search: next === null ? {} : { against: next } });
  }
  function submit(event: FormEvent): void {
    event.preventDefault();
    show(text.trim() === '' ? null : text.trim());
  }
  return (
    <form className="toolbar" onSubmit={submit}>
      <button type="button" className="button" aria-pressed={against === null} onClick={() => show(null)}>
        What it changed
      </button>
      <button type="button" className="button" aria-pressed={against === 'current'} onClick={() => show('current')}>
        Compare with now
      </button>
      <input
        className="input"
        inputMode="numeric"
        aria-label="Another version"
        placeholder="Another version"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <button type="submit" className="button">
        Compare
      </button>
    </form>
  );
}

function Differences({ version, against }: { readonly version: string; readonly against: string }) {
  const { data, error, refetch } = useQuery(diffQuery(version, against));
  if (error !== null && data === undefined) return <ErrorState level={2} error={error} retry={() => void refetch()} />;
  if (data === undefined) return <LoadingState label="Comparing" />;
  const other = against === 'current' ? 'the current config' : `version ${against}`;
  return (
    <>
      <p>
        What leads from {other} to version {version}:
      </p>
      <ChangeList shown={data} />
    </>
  );
}

/** What the role and the node permit. */
function WaysBack({ version, undoable }: { readonly version: string; readonly undoable: boolean }) {
  const { data: caller } = useSuspenseQuery(callerQuery);
  const { data: node } = useSuspenseQuery(nodeQuery);
  const client = useQueryClient();
  if (node.configuration['database'] === 'off') return null;

  async function send(way: 'undo' | 'rollback', text: string): Promise<void> {
    const path = `/config/versions/${encodeURIComponent(version)}/${way}`;
    const done = await call<{ readonly version: number | null }>('POST', path);
    const said = done.version === null ? 'Nothing had to change.' : text;
    offerUndo({ text: said, version: done.version, action: 'Undo', page: null, deletes: null });
    await client.invalidateQueries();
  }

  return (
    <>
      {caller.role !== 'read' && undoable && (
        <ConfirmDialog
          trigger={
            <button type="button" className="button">
              Undo this change
            </button>
          }
          title={`Undo version ${version}?`}
          action="Undo this change"
          onConfirm={() => send('undo', `The change of version ${version} is undone.`)}
        >
          <p>
            Only what this version changed is taken back. Later changes stay; if one of them changed the same, nothing
            happens.
          </p>
          <WayAsCode path={`/config/versions/${version}/undo`} />
        </ConfirmDialog>
      )}
      {caller.role === 'admin' && (
        <ConfirmDialog
          trigger={
            <button type="button" className="button danger">
              Roll back to this
            </button>
          }
          title={`Roll back to version ${version}?`}
          action="Roll back"
          onConfirm={() => send('rollback', `The config is that of version ${version}.`)}
        >
          <RollbackPreview version={version} />
        </ConfirmDialog>
      )}
    </>
  );
}

function RollbackPreview({ version }: { readonly version: string }) {
  const { data, error } = useQuery(rollbackQuery(version));
  const path = `/config/versions/${version}/rollback`;
  return (
    <div className="stack rollback-preview">
      <p>The whole config becomes what it was after this version. Later changes of everyone are taken back.</p>
      {error !== null && <p className="banner error">{error.message}</p>}
      {data === undefined && error === null && <p className="muted">Comparing…</p>}
      {data !== undefined && <ChangeList shown={data} />}
      {data !== undefined && data.changes.length > 0 && (
        <Effect trial={{ version: Number(version) }} refused="The effect of a rollback is unknown" />
      )}
      <WayAsCode path={path} />
    </div>
  );
}

function WayAsCode({ path }: { readonly path: string }) {
  return (
    <details className="more">
      <summary>As curl or TypeScript</summary>
      <CodeTabs
        writes={[{ method: 'POST', path }]}
        deck={
          <p className="muted">
            A file of decK has no versions. After it, <code>sluicegate config export --style deck</code> writes the file
            of the whole config.
          </p>
        }
      />
    </details>
  );
}
