import { type ReactNode, useDeferredValue, useMemo, useState } from 'react';
import { OperationView } from './operation-view.tsx';
import { PlainText } from './plain-text.tsx';
import type { Operation, Reference } from './types.ts';
import './reference.css';

interface ReferenceViewProps {
  readonly reference: Reference;
  /** Links of the page for an operation. */
  readonly linksOf?: (operation: Operation) => ReactNode;
}

/** Operations of one tag that are shown at once. */
const shownAtOnce = 200;

/** The operations of an API by tag, with a search. */
export function ReferenceView({ reference, linksOf }: ReferenceViewProps) {
  const [text, setText] = useState('');
  const wanted = useDeferredValue(text.trim().toLowerCase());
  const schemas = useMemo(() => new Map(reference.schemas), [reference]);
  const groups = useMemo(() => groupsOf(reference, wanted), [reference, wanted]);
  return (
    <>
      {reference.description !== null && <PlainText text={reference.description} />}
      <search className="toolbar">
        <input
          type="search"
          className="input"
          aria-label="Search operations"
          placeholder="Search operations"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </search>
      {groups.length === 0 && (
        <div className="state">
          <h2>Nothing matches</h2>
          <p>No operation has these words in its path or summary.</p>
        </div>
      )}
      {groups.map(({ name, description, operations }) => (
        <section key={name} className="operations" aria-label={name}>
          <h2>{name}</h2>
          {description !== null && <PlainText text={description} />}
          <OperationList operations={operations} reference={reference} schemas={schemas} linksOf={linksOf} />
        </section>
      ))}
    </>
  );
}

interface OperationListProps {
  readonly operations: readonly Operation[];
  readonly reference: Reference;
  readonly schemas: ReadonlyMap<string, Reference['schemas'][number][1]>;
  readonly linksOf: ReferenceViewProps['linksOf'];
}

function OperationList({ operations, reference, schemas, linksOf }: OperationListProps) {
  const [all, setAll] = useState(false);
  const shown = all ? operations : operations.slice(0, shownAtOnce);
  return (
    <div className="operation-list">
      {shown.map((operation) => (
        <OperationView
          key={`${operation.method} ${operation.path}`}
          operation={operation}
          demands={reference.demands[operation.demands]}
          schemas={schemas}
          links={linksOf?.(operation)}
        />
      ))}
      {shown.length < operations.length && (
        <button type="button" className="button" onClick={() => setAll(true)}>
          Show all {operations.length.toLocaleString()} operations
        </button>
      )}
    </div>
  );
}

interface Group {
  readonly name: string;
  readonly description: string | null;
  readonly operations: Operation[];
}

function groupsOf({ operations, tags }: Reference, wanted: string): readonly Group[] {
  const groups = new Map<string, Group>(
    tags.map(({ name, description }) => [name, { name, description, operations: [] }]),
  );
  const words = wanted.split(/\s+/);
  for (const operation of operations) {
    const { method, path, summary, id } = operation;
    const searched = `${method} ${path} ${summary ?? ''} ${id ?? ''}`.toLowerCase();
    if (!words.every((word) => searched.includes(word))) continue;
    const name = operation.tags[0] ?? 'Operations';
    const group = groups.get(name) ?? { name, description: null, operations: [] };
    groups.set(name, group);
    group.operations.push(operation);
  }
  return [...groups.values()].filter((group) => group.operations.length > 0);
}
