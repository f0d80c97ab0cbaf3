import { type ReactNode, useState } from 'react';
import { PlainText } from './plain-text.tsx';
import type { SchemaFields, SchemaView } from './types.ts';

/** The schemas that others refer to. A map: names of documents must not be keys of objects. */
export type Schemas = ReadonlyMap<string, SchemaView>;

interface SchemaTreeProps {
  readonly schema: SchemaView;
  readonly schemas: Schemas;
  /** Levels above. */
  readonly depth?: number;
}

/** Levels that are open at first. What is deeper opens at a click, so a schema that contains itself has no end and needs none. */
const openLevels = 2;
/** Properties of one schema that are shown at once. */
const shownAtOnce = 50;

export function SchemaTree({ schema, schemas, depth = 0 }: SchemaTreeProps) {
  const { name, view } = resolvedIn(schema, schemas);
  if (typeof view === 'boolean') return <span className="schema-type">{view ? 'any value' : 'no value'}</span>;
  return (
    <div className="schema">
      <SchemaHead view={view} name={name} />
      <SchemaBody key={name ?? ''} view={view} schemas={schemas} depth={depth} />
    </div>
  );
}

function SchemaHead({ view, name }: { readonly view: SchemaFields; readonly name: string | null }) {
  const { format, description, rules = [], values = [], fallback, example } = view;
  return (
    <>
      <span className="schema-type">{typeText(view)}</span>
      {name !== null && <span className="schema-name">{name}</span>}
      {format !== undefined && <span className="muted">{format}</span>}
      {view.deprecated === true && <span className="badge warn">deprecated</span>}
      {view.readOnly === true && <span className="badge">only in responses</span>}
      {view.writeOnly === true && <span className="badge">only in requests</span>}
      {rules.length > 0 && <span className="muted">{rules.join(', ')}</span>}
      {description !== undefined && <PlainText text={description} className="small" />}
      {values.length > 0 && <Values label="One of" values={values} />}
      {fallback !== undefined && <Values label="Default" values={[fallback]} />}
      {example !== undefined && <Values label="Example" values={[example]} />}
    </>
  );
}

function Values({ label, values }: { readonly label: string; readonly values: readonly string[] }) {
  return (
    <p className="small schema-values">
      {label}: {[...new Set(values)].map((value) => [<code key={value}>{value}</code>, ' '])}
    </p>
  );
}

interface SchemaBodyProps {
  readonly view: SchemaFields;
  readonly schemas: Schemas;
  readonly depth: number;
}

function SchemaBody({ view, schemas, depth }: SchemaBodyProps) {
  const [open, setOpen] = useState(depth < openLevels);
  const [all, setAll] = useState(false);
  const { properties = [], items, others, choices = [] } = view;
  if (properties.length === 0 && items === undefined && others === undefined && choices.length === 0) return null;
  if (!open) {
    return (
      <button type="button" className="button tight" onClick={() => setOpen(true)}>
        Show {properties.length > 0 ? `${properties.length.toLocaleString()} properties` : 'more'}
      </button>
    );
  }
  const shown = all ? properties : properties.slice(0, shownAtOnce);
  const inner = (schema: SchemaView): ReactNode => <SchemaTree schema={schema} schemas={schemas} depth={depth + 1} />;
  return (
    <ul className="schema-members">
      {shown.map(({ name, required, schema }) => (
        <li key={name}>
          <code className="schema-property">{name}</code>
          {required && <span className="badge accent">required</span>} {inner(schema)}
        </li>
      ))}
      {shown.length < properties.length && (
        <li>
          <button type="button" className="button tight" onClick={() => setAll(true)}>
            Show all {properties.length.toLocaleString()} properties
          </button>
        </li>
      )}
      {items !== undefined && (
        <li>
          <span className="muted">each item</span> {inner(items)}
        </li>
      )}
      {others !== undefined && (
        <li>
          <span className="muted">any other property</span> {inner(others)}
        </li>
      )}
      {choices.map(({ kind, schemas: list }) => (
        <li key={kind}>
          <span className="muted">{kind}</span>
          <ul className="schema-members">
            {list.map((schema, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a list without names that never changes
              <li key={`${kind} ${at}`}>{inner(schema)}</li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}

function typeText({ type, properties, items }: SchemaFields): string {
  if (type !== null) return type;
  if (properties !== undefined) return 'object';
  return items === undefined ? 'any value' : 'array';
}

/** References that lead to references are followed a few times only: they may lead in a circle. */
function resolvedIn(schema: SchemaView, schemas: Schemas) {
  let view: SchemaView | undefined = schema;
  let name: string | null = null;
  for (let steps = 0; typeof view === 'object' && 'ref' in view; steps++) {
    if (steps === 10) return { name, view: true };
    name = view.ref.slice(view.ref.lastIndexOf('/') + 1);
    view = schemas.get(view.ref);
  }
  return { name, view: view ?? true };
}
