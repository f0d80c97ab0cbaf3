import { useQueryClient } from '@tanstack/react-query';
import { Link, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { ApiError, call } from '../../api/client.ts';
import { useLateNavigation } from '../../layout/late-navigation.ts';
import { dismissUndo, type SavedChange, tookBack, useUndo } from './undo-store.ts';

/** The answer of `POST /config/versions/{version}/undo`. */
interface Undone {
  readonly version: number | null;
}

/** Says that a change was saved, and takes it back. It stays until it is dismissed, or the page of another entity is opened. */
export function UndoNotice() {
  const { saved } = useUndo();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const shown = useRef(path);
  useEffect(() => {
    if (shown.current === path) return;
    shown.current = path;
    if (saved !== null && isEntityPage(path) && path !== saved.page) dismissUndo();
  }, [path, saved]);
  return (
    <div className="undo-place">
      <p role="status" aria-live="polite" className={saved === null ? 'visually-hidden' : 'undo-text'}>
        {saved?.text}
      </p>
      {saved !== null && <Actions key={`${saved.version} ${saved.text}`} saved={saved} path={path} />}
    </div>
  );
}

function Actions({ saved, path }: { readonly saved: SavedChange; readonly path: string }) {
  const client = useQueryClient();
  const beginNavigation = useLateNavigation();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  async function takeBack(version: number): Promise<void> {
    const navigate = beginNavigation();
    setBusy(true);
    setProblem(null);
    try {
      const undone = await call<Undone>('POST', `/config/versions/${version}/undo`);
      const [, , entity] = path.split('/');
      const gone = saved.deletes === true && path === saved.page && entity !== undefined;
      if (gone) await navigate({ to: '/config/$entity', params: { entity } });
      // The page of an entity that is gone must not read it again.
      if (gone) client.removeQueries({ queryKey: ['row'], type: 'inactive' });
      await client.invalidateQueries();
      tookBack({
        ...saved,
        text: saved.action === 'Undo' ? 'Undone. It is as it was before.' : 'Done again.',
        version: undone.version,
        action: saved.action === 'Undo' ? 'Redo' : 'Undo',
        deletes: saved.deletes === null ? null : !saved.deletes,
      });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      if (error instanceof ApiError && error.status === 409) await client.invalidateQueries();
    } finally {
      setBusy(false);
    }
  }

  const { version, action } = saved;
  return (
    <>
      {version !== null && (
        <>
          <button type="button" className="button tight" disabled={busy} onClick={() => void takeBack(version)}>
            {action}
          </button>
          <Link to="/history/$version" params={{ version: String(version) }} className="small">
            Version {version}
          </Link>
        </>
      )}
      <button type="button" className="button plain tight" onClick={dismissUndo}>
        Dismiss
      </button>
      {problem !== null && (
        <p role="alert" className="undo-problem">
          {problem}
        </p>
      )}
    </>
  );
}

function isEntityPage(path: string): boolean {
  return /^\/config\/[^/]+\/[^/]+$/.test(path);
}
