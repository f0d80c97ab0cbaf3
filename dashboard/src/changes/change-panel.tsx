import { useDeferredValue, useMemo } from 'react';
import type { Collection } from '../config/collections.ts';
import type { NamedField } from '../forms/schema.ts';
import type { Value } from '../forms/value.ts';
import { CodeTabs } from './code/code-tabs.tsx';
import { DeckPanel } from './code/deck-panel.tsx';
import { DifferenceList, WholeEntity } from './difference-list.tsx';
import { differencesOf } from './differences.ts';
import { Effect } from './effect.tsx';
import type { PlannedWrite } from './planned-write.ts';
import { withoutSecrets } from './secrets.ts';
import './changes.css';

interface ChangePanelProps {
  readonly collection: Collection;
  readonly all: readonly Collection[];
  readonly fields: readonly NamedField[];
  /** Null: it does not exist yet. */
  readonly before: Value | null;
  /** Null: it is deleted. */
  readonly after: Value | null;
  readonly write: PlannedWrite;
}

/** What a change would do, next to the form that makes it: the fields, the last requests, and the change as code. */
export function ChangePanel(props: ChangePanelProps) {
  const { collection, all, fields, before, after, write } = useDeferredValue(props);
  const differences = useMemo(() => shownDifferences(fields, before, after), [fields, before, after]);
  const shown = useMemo(
    () => (write.body === undefined ? write : { ...write, body: withoutSecrets(fields, write.body as Value) }),
    [write, fields],
  );
  const deleted = after === null;
  const title = before === null ? 'What is created' : deleted ? 'What is deleted' : 'What changes';
  return (
    <div className="change-panel stack">
      <section aria-label={title}>
        <h2>
          {title}{' '}
          <span className="badge">
            {differences.length} {differences.length === 1 ? 'field' : 'fields'}
          </span>
        </h2>
        {deleted ? <WholeEntity differences={differences} /> : <DifferenceList differences={differences} />}
      </section>
      {collection.info.in_config && <Effect trial={{ changes: [write] }} />}
      <details className="more">
        <summary>As curl, decK or TypeScript</summary>
        <CodeTabs
          writes={[shown]}
          deck={<DeckPanel all={all} collection={collection} value={after ?? before ?? {}} deleted={deleted} />}
        />
      </details>
    </div>
  );
}

/** A secret that is replaced by another one is a difference, although both are hidden. */
function shownDifferences(fields: readonly NamedField[], before: Value | null, after: Value | null) {
  const [old, next] = [before, after].map((side) => (side === null ? null : withoutSecrets(fields, side)));
  const masked = new Map(differencesOf(old ?? null, next ?? null).map((one) => [one.path, one]));
  return differencesOf(before, after).flatMap(
    ({ path }) => masked.get(path) ?? hiddenDifference(path, old ?? null, next ?? null),
  );
}

function hiddenDifference(path: string, old: Value | null, next: Value | null) {
  const at = (side: Value | null): unknown =>
    path.split('.').reduce<unknown>((value, name) => Object(value)[name], side ?? {});
  return { path, before: at(old), after: at(next) };
}
