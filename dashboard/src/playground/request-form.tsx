import { useQuery } from '@tanstack/react-query';
import { nodeQuery, rowsQuery } from '../api/queries.ts';
import { labelOf } from '../config/labels.ts';
import { CodeRegion } from './code-region.tsx';
import { curlText, type ProxyListener } from './curl-text.ts';
import { type Draft, draftOfRoute, jsonProblem, newHeader } from './request-draft.ts';

interface RequestFormProps {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  /** Messages of the Admin API by field. */
  readonly problems: Readonly<Record<string, unknown>>;
  readonly maySend: boolean;
  readonly isSending: boolean;
  readonly onSend: () => void;
  readonly onCancel: () => void;
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

export function RequestForm(props: RequestFormProps) {
  const { draft, onChange, problems, maySend, isSending, onSend, onCancel } = props;
  const change = (changes: Partial<Draft>): void => onChange({ ...draft, ...changes });
  const json = jsonProblem(draft);
  return (
    <form
      className="card card-pad stack"
      aria-label="Request"
      onSubmit={(event) => {
        event.preventDefault();
        if (maySend && !isSending) onSend();
      }}
    >
      <RouteChoice draft={draft} onChange={onChange} />
      {draft.notes.map((note) => (
        <p key={note} className="banner" role="status">
          {note}
        </p>
      ))}
      <div className="request-line">
        <label>
          <span className="label-text">Method</span>
          <select className="input" value={draft.method} onChange={({ target }) => change({ method: target.value })}>
            {[...new Set([...methods, draft.method])].map((method) => (
              <option key={method}>{method}</option>
            ))}
          </select>
        </label>
        <label>
          <span className="label-text">URL or path</span>
          <input
            className="input mono"
            value={draft.url}
            spellCheck={false}
            autoComplete="off"
            aria-invalid={problems['url'] !== undefined}
            onChange={({ target }) => change({ url: target.value })}
          />
        </label>
      </div>
      <Problem text={problems['method'] ?? problems['url']} />
      <Headers draft={draft} onChange={onChange} problem={problems['headers']} />
      <div>
        <label className="label-text" htmlFor="playground-body">
          Body
        </label>
        <textarea
          id="playground-body"
          className="input"
          value={draft.body}
          spellCheck={false}
          aria-describedby="playground-body-state"
          onChange={({ target }) => change({ body: target.value })}
        />
        <div className="row small" id="playground-body-state">
          <label className="row">
            <input
              type="checkbox"
              checked={draft.isBase64}
              onChange={({ target }) => change({ isBase64: target.checked })}
            />
            The body is base64
          </label>
          {json === '' && (
            <>
              <span className="badge ok">Valid JSON</span>
              <button
                type="button"
                className="button plain tight"
                onClick={() => change({ body: JSON.stringify(JSON.parse(draft.body), null, 2) })}
              >
                Format
              </button>
            </>
          )}
          {json !== null && json !== '' && <span className="badge warn json-problem">Not valid JSON: {json}</span>}
        </div>
        <Problem text={problems['body'] ?? problems['body_base64']} />
      </div>
      <div className="row">
        {isSending ? (
          <button type="button" className="button" onClick={onCancel}>
            Cancel
          </button>
        ) : (
          <button type="submit" className="button primary" disabled={!maySend}>
            Send
          </button>
        )}
        <label className="row">
          <input type="checkbox" checked={draft.dry} onChange={({ target }) => change({ dry: target.checked })} />
          Dry run: contact no backend
        </label>
      </div>
      <AsCurl draft={draft} />
    </form>
  );
}

/** With the listener at the host at which the browser reaches the dashboard. */
function AsCurl({ draft }: { readonly draft: Draft }) {
  const { data: node } = useQuery(nodeQuery);
  const listeners = (node?.configuration['proxy_listeners'] ?? []) as readonly Omit<ProxyListener, 'host'>[];
  const text = curlText(
    draft,
    listeners.map(({ port, ssl }) => ({ host: location.hostname, port, ssl })),
  );
  return text === null ? null : (
    <details className="more">
      <summary>As curl</summary>
      <CodeRegion label="The request as curl" text={text} />
    </details>
  );
}

function Problem({ text }: { readonly text: unknown }) {
  return text === undefined ? null : (
    <p className="problem" role="alert">
      {String(text)}
    </p>
  );
}

/** Routes from which one is chosen; of more, the path can be entered. */
const maxRoutes = 1000;

function RouteChoice({ draft, onChange }: Pick<RequestFormProps, 'draft' | 'onChange'>) {
  const { data } = useQuery(rowsQuery('/routes', maxRoutes));
  const routes = data?.rows ?? [];
  return (
    <label>
      <span className="label-text">Fill in an example for a route</span>
      <select
        className="input"
        value=""
        onChange={({ target }) => {
          const route = routes.find(({ id }) => id === target.value);
          if (route !== undefined) onChange(draftOfRoute(route, draft));
        }}
      >
        <option value="">{data !== undefined && routes.length === 0 ? 'There are no routes' : 'Choose a route'}</option>
        {routes.map((route) => (
          <option key={route.id} value={route.id}>
            {labelOf(route)}
          </option>
        ))}
      </select>
    </label>
  );
}

interface HeadersProps extends Pick<RequestFormProps, 'draft' | 'onChange'> {
  readonly problem: unknown;
}

function Headers({ draft, onChange, problem }: HeadersProps) {
  const set = (key: number, changes: object): void =>
    onChange({
      ...draft,
      headers: draft.headers.map((header) => (header.key === key ? { ...header, ...changes } : header)),
    });
  return (
    <fieldset className="request-headers">
      <legend className="label-text">Headers</legend>
      {draft.headers.map(({ key, name, value, masked }, at) => (
        <div key={key} className="request-header">
          <input
            className="input mono"
            aria-label={`Name of header ${at + 1}`}
            placeholder="Name"
            value={name}
            spellCheck={false}
            autoComplete="off"
            onChange={({ target }) => set(key, { name: target.value })}
          />
          <input
            className="input mono"
            aria-label={`Value of ${name === '' ? `header ${at + 1}` : name}`}
            placeholder={masked ? 'fill in' : 'Value'}
            aria-invalid={masked && value === ''}
            value={value}
            spellCheck={false}
            autoComplete="off"
            onChange={({ target }) => set(key, { value: target.value })}
          />
          <button
            type="button"
            className="button plain"
            aria-label={`Remove ${name === '' ? `header ${at + 1}` : name}`}
            onClick={() => onChange({ ...draft, headers: draft.headers.filter((header) => header.key !== key) })}
          >
            ×
          </button>
        </div>
      ))}
      <Problem text={problem} />
      <div>
        <button
          type="button"
          className="button tight"
          onClick={() => onChange({ ...draft, headers: [...draft.headers, newHeader()] })}
        >
          Add a header
        </button>
      </div>
    </fieldset>
  );
}
