import { type ReactNode, useState } from 'react';
import { DemandsList } from './demands-list.tsx';
import { PlainText } from './plain-text.tsx';
import { type Schemas, SchemaTree } from './schema-tree.tsx';
import type { Content, Demands, Operation } from './types.ts';

interface OperationViewProps {
  readonly operation: Operation;
  readonly demands: Demands | undefined;
  readonly schemas: Schemas;
  /** Links of the page for this operation. */
  readonly links?: ReactNode;
}

/** One operation, closed at first: a document can have a thousand. */
export function OperationView(props: OperationViewProps) {
  const { operation } = props;
  const [open, setOpen] = useState(false);
  return (
    <details className="operation card" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className={`method ${operation.method.toLowerCase()}`}>{operation.method}</span>
        <code className="operation-path">{operation.path}</code>
        {operation.deprecated && <span className="badge warn">deprecated</span>}
        {operation.summary !== null && <span className="operation-summary muted">{operation.summary}</span>}
      </summary>
      {open && <OperationBody {...props} />}
    </details>
  );
}

function OperationBody({ operation, demands, schemas, links }: OperationViewProps) {
  const { description, parameters, body, responses } = operation;
  return (
    <div className="operation-body stack">
      {description !== null && <PlainText text={description} />}
      {links !== undefined && <div className="row">{links}</div>}
      {demands !== undefined && <DemandsList demands={demands} />}
      {parameters.length > 0 && (
        <section>
          <h3>Parameters</h3>
          <ul className="parameters">
            {parameters.map((parameter) => (
              <li key={`${parameter.in} ${parameter.name}`}>
                <code className="schema-property">{parameter.name}</code> <span className="muted">{parameter.in}</span>
                {parameter.required && <span className="badge accent">required</span>}
                {parameter.deprecated && <span className="badge warn">deprecated</span>}
                {parameter.description !== null && <PlainText text={parameter.description} className="small" />}
                <SchemaTree schema={parameter.schema} schemas={schemas} />
                {parameter.example !== null && (
                  <p className="small">
                    Example: <code>{parameter.example}</code>
                  </p>
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
      {body !== null && (
        <section>
          <h3>Request body {body.required && <span className="badge accent">required</span>}</h3>
          {body.description !== null && <PlainText text={body.description} />}
          <Contents contents={body.content} schemas={schemas} label={`${operation.method} ${operation.path}, body`} />
        </section>
      )}
      {responses.length > 0 && (
        <section>
          <h3>Responses</h3>
          <ul className="responses">
            {responses.map(({ status, description: text, content, headers }) => (
              <li key={status}>
                <span className={`badge ${statusClass(status)}`}>{status}</span>
                {text !== null && <PlainText text={text} />}
                {headers.length > 0 && (
                  <p className="small muted">Headers: {headers.map(({ name }) => name).join(', ')}</p>
                )}
                <Contents
                  contents={content}
                  schemas={schemas}
                  label={`${operation.method} ${operation.path}, response ${status}`}
                />
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

interface ContentsProps {
  readonly contents: readonly Content[];
  readonly schemas: Schemas;
  /** For screen readers. */
  readonly label: string;
}

function Contents({ contents, schemas, label }: ContentsProps) {
  return contents.map(({ type, schema, examples }) => (
    <div key={type} className="content-type">
      <p className="small muted">{type}</p>
      <SchemaTree schema={schema} schemas={schemas} />
      {examples.map(({ name, value }) => (
        <figure key={name}>
          <figcaption className="small muted">{name}</figcaption>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
          <section className="example" tabIndex={0} aria-label={`${label}, ${type}, ${name}`}>
            <pre className="code">{value}</pre>
          </section>
        </figure>
      ))}
    </div>
  ));
}

function statusClass(status: string): string {
  if (status.startsWith('2')) return 'ok';
  return status.startsWith('4') || status.startsWith('5') ? 'danger' : '';
}
