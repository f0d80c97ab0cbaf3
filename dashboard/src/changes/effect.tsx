import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { ApiError, OfflineError } from '../api/client.ts';
import { effectText, outcomeText, type Trial, type WhatIf, whatIfQuery } from './what-if.ts';

/** Milliseconds without another change before the effect is computed. */
const settleTime = 400;
const maxGroups = 5;

interface EffectProps {
  readonly trial: Trial;
  /** What to say when the gateway refuses the trial. */
  readonly refused?: string;
}

/** What a change would do to the last requests. It never blocks the form. */
export function Effect({ trial, refused = 'The effect is shown once the gateway accepts the values' }: EffectProps) {
  const settled = useSettled(JSON.stringify(trial));
  const { data, error, isFetching, refetch } = useQuery(whatIfQuery(JSON.parse(settled) as Trial));
  return (
    <section aria-label="Effect on the last requests" className="effect" aria-busy={isFetching}>
      <h2>Effect on the last requests</h2>
      {error !== null ? (
        <EffectProblem {...{ error, refused }} retry={() => void refetch()} />
      ) : data === undefined ? (
        <p className="muted" role="status">
          Trying the change on the last requests…
        </p>
      ) : (
        <EffectView effect={data} />
      )}
    </section>
  );
}

export function EffectView({ effect }: { readonly effect: WhatIf }) {
  const { requests, groups, undecided } = effect;
  if (requests.kept === 0) {
    return (
      <p className="muted" role="status">
        No requests recorded yet: the recorder is on now. From the next request on, each change shows its effect here.
      </p>
    );
  }
  const tone = effect.refused > 0 ? 'banner error' : effect.changed > 0 ? 'banner' : 'banner ok';
  return (
    <>
      <p className={tone} role="status">
        {effectText(effect)}
      </p>
      {effect.note && <p className="small muted">{effect.note}</p>}
      {groups.length > 0 && (
        <ul className="effect-groups">
          {groups.slice(0, maxGroups).map((group) => (
            <li key={JSON.stringify([group.before, group.after])}>
              <p>
                <strong>{group.count.toLocaleString()}</strong> {outcomeText(group.before)}{' '}
                <span aria-hidden="true">→</span>
                <span className="visually-hidden">become</span> {outcomeText(group.after)}
              </p>
              {group.after.reason && <p className="small muted">{group.after.reason}</p>}
              {group.examples.length > 0 && (
                <p className="small">
                  {group.examples.slice(0, 3).map((id, at) => (
                    <Link key={id} to="/traffic/$id" params={{ id }} target="_blank">
                      {at === 0 ? 'Example' : `Example ${at + 1}`}
                    </Link>
                  ))}
                </p>
              )}
            </li>
          ))}
        </ul>
      )}
      {groups.length > maxGroups && <p className="small muted">and {groups.length - maxGroups} other groups</p>}
      {undecided.map(({ reason, plugin, count }) => (
        <p key={`${plugin} ${reason}`} className="small muted">
          {count.toLocaleString()} undecided: {reason}
          {plugin ? ` (${plugin})` : ''}
        </p>
      ))}
    </>
  );
}

interface EffectProblemProps {
  readonly error: Error;
  readonly refused: string;
  readonly retry: () => void;
}

function EffectProblem({ error, refused, retry }: EffectProblemProps) {
  const status = error instanceof ApiError ? error.status : null;
  const isRefused = error instanceof ApiError && error.change !== null;
  if (status === 404 && !isRefused)
    return <p className="muted">This version of the gateway cannot try changes on requests.</p>;
  if (status === 403 && !isRefused) return <p className="muted">Your role may not try changes on requests.</p>;
  if (status !== null && status < 500 && status !== 429) {
    return (
      <p className="muted">
        {refused}: {error.message}
      </p>
    );
  }
  return (
    <>
      <p className="muted">
        {error instanceof OfflineError ? 'The gateway does not answer.' : `The effect is unknown: ${error.message}`}
      </p>
      <button type="button" className="button tight" onClick={retry}>
        Try again
      </button>
    </>
  );
}

/** The text once it has stayed the same for a moment; the first one at once. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), settleTime);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
