import { bytesText } from '../format.ts';
import type { HeaderValues, RequestView } from '../records.ts';
import { WireText } from '../wire-text.tsx';
import { recordedBody } from './recorded-body.ts';

interface RequestMessageProps {
  readonly request: RequestView;
  readonly upstream: { readonly method: string; readonly uri: string } | null;
}

/** The request as the gateway read it. */
export function RequestMessage({ request, upstream }: RequestMessageProps) {
  const { method, path_as_sent: path, query, http_version: version, headers, client, connection } = request;
  const { tls } = connection;
  return (
    <section className="card" aria-labelledby="request">
      <h2 id="request">Request</h2>
      <p className="mono small">
        <WireText text={`${method} ${path}${query === null ? '' : `?${query}`} HTTP/${version}`} />
      </p>
      {request.path !== null && request.path !== path && (
        <p className="small">
          Read as{' '}
          <span className="mono">
            <WireText text={request.path} />
          </span>
        </p>
      )}
      {upstream !== null && (
        <p className="small">
          The backend received{' '}
          <span className="mono">
            <WireText text={`${upstream.method} ${upstream.uri}`} />
          </span>
        </p>
      )}
      <HeaderTable headers={headers} name="Request headers" />
      <BodyText body={request.body} headers={headers} />
      <p className="small muted">
        From <WireText text={`${connection.peer_ip}:${connection.peer_port}`} /> to port {connection.local_port}
        {tls === null ? '' : ', over '}
        {tls !== null && <WireText text={[tls.version, tls.cipher, tls.server_name].filter(Boolean).join(', ')} />}. The
        client is <WireText text={client.ip} />: <WireText text={client.because} />.
      </p>
    </section>
  );
}

export function HeaderTable({ headers, name }: { readonly headers: HeaderValues; readonly name: string }) {
  const rows = Object.entries(headers).flatMap(([header, values]) =>
    (typeof values === 'string' ? [values] : values).map((value) => ({ header, value })),
  );
  if (rows.length === 0) return <p className="small muted">No headers.</p>;
  return (
    <table className="data-table headers" aria-label={name}>
      <tbody>
        {rows.map(({ header, value }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the headers of a record do not change
          <tr key={at}>
            <th scope="row" className="mono">
              <WireText text={header} max={200} />
            </th>
            <td className="mono">
              {value === 'REDACTED' ? <span className="badge">masked</span> : <WireText text={value} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A recorded body, or what is known of it. */
export function BodyText({ body, headers }: { readonly body: unknown; readonly headers: HeaderValues }) {
  const recorded = recordedBody(body, headers);
  if (recorded === null) return typeof body === 'string' ? <p className="small muted">Body: {body}.</p> : null;
  const { mediaType, bytes, truncated, text, base64, reason } = recorded;
  const facts = [mediaType, bytes === null ? null : bytesText(bytes)].filter((one) => one !== null);
  return (
    <div>
      <h3>Body</h3>
      {facts.length > 0 && (
        <p className="small muted">
          <WireText text={facts.join(', ')} max={200} />
        </p>
      )}
      {reason !== null && (
        <p className="small">
          It is left out: <WireText text={reason} />
        </p>
      )}
      {(text ?? base64 ?? '') !== '' && (
        <pre className="code">
          <WireLines text={text ?? base64 ?? ''} />
        </pre>
      )}
      {base64 !== null && <p className="small muted">It is no text, so it is shown in base64.</p>}
      {truncated && <p className="small muted">Only the beginning was recorded.</p>}
    </div>
  );
}

/** Lines of a body that are shown. */
const maxLines = 200;
const lineLength = 4000;

function WireLines({ text }: { readonly text: string }) {
  const lines = text.split('\n');
  return (
    <>
      {lines.slice(0, maxLines).map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a record do not change
        <span key={at}>
          {at > 0 && '\n'}
          <WireText text={line} first={lineLength} />
        </span>
      ))}
      {lines.length > maxLines && `\n… ${(lines.length - maxLines).toLocaleString()} more lines`}
    </>
  );
}
