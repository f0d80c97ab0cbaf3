import type { Usage } from './portal-client.ts';

const number = new Intl.NumberFormat();
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

/** How often the consumer has called, as numbers and bars. */
export function UsageView({ usage }: { readonly usage: Usage | null }) {
  if (usage === null) return <p className="muted">Usage is not counted on this gateway.</p>;
  const { parts, statuses, each } = usage;
  const total = sum(parts.map(({ requests }) => requests));
  if (total === 0) return <p className="muted">You have sent no requests in this time.</p>;
  const failed = sum(parts.map(({ client_errors: client, server_errors: server }) => client + server));
  const most = Math.max(...parts.map(({ requests }) => requests));
  const format = new Intl.DateTimeFormat(
    undefined,
    each === 'hour' ? { hour: '2-digit', minute: '2-digit' } : { day: 'numeric', month: 'short' },
  );
  return (
    <>
      <dl className="portal-numbers">
        <div>
          <dt>Requests</dt>
          <dd>{number.format(total)}</dd>
        </div>
        <div>
          <dt>Errors</dt>
          <dd>
            {number.format(failed)} ({percent.format(failed / total)})
          </dd>
        </div>
      </dl>
      <ul className="portal-statuses" aria-label="By status">
        {statuses.map(({ status, requests }) => (
          <li key={status}>
            <span className={`badge ${status >= 400 || (status < 10 && status > 3) ? 'danger' : 'ok'}`}>
              {status < 10 ? `${status}xx` : status}
            </span>{' '}
            {number.format(requests)}
          </li>
        ))}
      </ul>
      <table className="portal-usage">
        <caption className="visually-hidden">Requests per {each}</caption>
        <thead>
          <tr>
            <th scope="col">{each === 'hour' ? 'Hour' : 'Day'}</th>
            <th scope="col">Requests</th>
            <th scope="col">Errors</th>
          </tr>
        </thead>
        <tbody>
          {parts.map(({ start, requests, client_errors: client, server_errors: server }) => (
            <tr key={start}>
              <th scope="row">{format.format(new Date(start * 1000))}</th>
              <td>
                <span className="portal-bar" style={{ width: `${(requests / most) * 60}%` }} aria-hidden="true" />
                {number.format(requests)}
              </td>
              <td>{number.format(client + server)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
