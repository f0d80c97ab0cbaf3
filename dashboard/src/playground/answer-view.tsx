import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { CodeRegion } from './code-region.tsx';
import type { ExplainedAnswer, Explanation, HeaderValues } from './explained.ts';

/** The answer, why it is that, and everything that happened on the way. */
export function AnswerView({ answer }: { readonly answer: ExplainedAnswer }) {
  const { status, headers, body, explanation, problem } = answer;
  return (
    <>
      <section className="card card-pad stack" aria-labelledby="answer-title">
        <h2 id="answer-title" className="row">
          Answer
          <span className={`badge ${badgeOf(status)}`}>{status ?? 'none'}</span>
        </h2>
        <p role="status">{explanation?.summary ?? problemText(problem)}</p>
        {explanation?.why != null && <Why why={explanation.why} />}
        <Headers headers={headers} />
        {body !== null && <Body body={body} bytes={explanation?.answer.body_bytes ?? null} />}
      </section>
      {explanation !== null && <ExplanationView explanation={explanation} />}
    </>
  );
}

function problemText(problem: string | null): string {
  if (problem === null) return 'The request was refused before it could be explained.';
  return `There is ${problem.startsWith('no ') ? '' : 'no answer: '}${problem}. The request may have been carried out.`;
}

function badgeOf(status: number | null): string {
  if (status === null) return '';
  return status >= 500 ? 'danger' : status >= 400 ? 'warn' : 'ok';
}

function Why({ why: { sentence, cause } }: { readonly why: NonNullable<Explanation['why']> }) {
  return (
    <p className="banner">
      <span>{sentence}</span>
      {cause?.entity != null && cause.id !== null && (
        <Link to="/config/$entity/$id" params={{ entity: cause.entity, id: cause.id }}>
          {cause.name ?? 'Show the cause'}
        </Link>
      )}
    </p>
  );
}

function Headers({ headers }: { readonly headers: HeaderValues }) {
  const lines = Object.entries(headers).flatMap(([name, values]) =>
    (Array.isArray(values) ? values : [values]).map((value, at) => ({ key: `${name} ${at}`, name, value })),
  );
  if (lines.length === 0) return null;
  return (
    <details className="more">
      <summary>{lines.length} headers</summary>
      <dl className="pairs">
        {lines.map(({ key, name, value }) => (
          <div key={key}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

interface BodyProps {
  readonly body: NonNullable<ExplainedAnswer['body']>;
  readonly bytes: number | null;
}

function Body({ body: { text, base64, truncated }, bytes }: BodyProps) {
  const shown = useMemo(() => prettyJson(text) ?? text ?? base64 ?? '', [text, base64]);
  const size = bytes === null ? '' : new Intl.NumberFormat().format(bytes);
  if (shown === '') return <p className="muted">The answer has no body.</p>;
  return (
    <div>
      <h3 className="row">
        Body
        {size !== '' && <span className="small muted">{size} bytes</span>}
        {base64 !== undefined && <span className="badge">base64</span>}
        {truncated && <span className="badge warn">only the beginning</span>}
      </h3>
      <CodeRegion label="Body of the answer" text={shown} />
    </div>
  );
}

function prettyJson(text: string | undefined): string | null {
  if (text === undefined || !/^\s*[[{]/.test(text)) return null;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}

function ExplanationView({ explanation }: { readonly explanation: Explanation }) {
  const { note, request, router, service, consumer, plugins, attempts } = explanation;
  const matched = router?.matched ?? null;
  return (
    <section className="card card-pad stack" aria-labelledby="explanation-title">
      <h2 id="explanation-title">Explanation</h2>
      <p className="small muted">{note}</p>
      <dl className="pairs">
        <div>
          <dt>Client</dt>
          <dd>{request.client.ip}</dd>
        </div>
        <Named label="Route" entity="routes" row={matched} />
        <Named label="Service" entity="services" row={service} />
        {consumer !== null && (
          <Named label="Consumer" entity="consumers" row={{ ...consumer, name: consumer.username }} />
        )}
      </dl>
      <h3>Plugins</h3>
      {plugins.length === 0 && <p className="muted">No plugin runs for this request.</p>}
      <ol className="plain-list">
        {plugins.map((plugin) => (
          <li key={plugin.id}>
            <Link to="/config/$entity/$id" params={{ entity: 'plugins', id: plugin.id }}>
              {plugin.name}
            </Link>{' '}
            <span className="badge">{plugin.scope.join(', ')}</span>
            {plugin.phases.length === 0 && <p className="small muted">Not run: {plugin.because}</p>}
            {plugin.phases.map(({ phase, ms, decided, changed }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the phases of an answer do not change
              <p key={at} className="small">
                <span className="muted">{phase}</span> {decided}
                {changed.length > 0 && `: ${changed.join(', ')}`}
                {ms !== null && <span className="muted"> {milliseconds(ms)}</span>}
              </p>
            ))}
          </li>
        ))}
      </ol>
      {attempts.length > 0 && (
        <>
          <h3>Attempts</h3>
          <ol className="plain-list">
            {attempts.map((attempt, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the attempts of an answer do not change
              <li key={at} className="small">
                <code>{String(attempt['address'] ?? '')}</code> {attemptText(attempt)}
              </li>
            ))}
          </ol>
        </>
      )}
      <details className="more">
        <summary>The whole document</summary>
        <CodeRegion label="The whole document" text={JSON.stringify(explanation, null, 2)} />
      </details>
    </section>
  );
}

interface NamedProps {
  readonly label: string;
  readonly entity: string;
  readonly row: { readonly id: string | null; readonly name: string | null } | null;
}

function Named({ label, entity, row }: NamedProps) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        {row === null || row.id === null ? (
          <span className="muted">none</span>
        ) : (
          <Link to="/config/$entity/$id" params={{ entity, id: row.id }}>
            {row.name ?? row.id}
          </Link>
        )}
      </dd>
    </div>
  );
}

function attemptText({ status, error, cause, ms }: Readonly<Record<string, unknown>>): string {
  const outcome =
    typeof status === 'number'
      ? `answered ${status}`
      : `failed: ${String(error ?? '')}${typeof cause === 'string' ? ` (${cause})` : ''}`;
  return typeof ms === 'number' ? `${outcome}, ${milliseconds(ms)}` : outcome;
}

function milliseconds(ms: number): string {
  return new Intl.NumberFormat(undefined, {
    style: 'unit',
    unit: 'millisecond',
    maximumFractionDigits: 2,
  }).format(ms);
}
