import { durationText } from '../format.ts';
import type { AttemptView, BalancerChoice, Explanation } from '../records.ts';
import { visibleText } from '../visible-text.ts';
import { WireText } from '../wire-text.tsx';
import { EntityLink } from './request-facts.tsx';

interface RequestAttemptsProps {
  readonly explanation: Explanation;
  readonly attempts: readonly AttemptView[];
  readonly choices: readonly BalancerChoice[];
}

/** How a backend was chosen, and each attempt at one. */
export function RequestAttempts({ explanation, attempts, choices }: RequestAttemptsProps) {
  const { service } = explanation;
  if (service == null && attempts.length === 0) return null;
  return (
    <section className="card" aria-labelledby="attempts">
      <h2 id="attempts">Backend</h2>
      {service != null && (
        <p>
          Service <EntityLink entity="services" id={service.id} name={service.name} />,{' '}
          <span className="mono small">{visibleText(`${service.protocol}://${service.host}:${service.port}`)}</span>
        </p>
      )}
      {choices.map((choice, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the choices of a record do not change
        <Choice key={at} choice={choice} />
      ))}
      {attempts.length === 0 ? (
        <p>No backend was contacted.</p>
      ) : (
        <div className="table-scroll">
          <table className="data-table">
            <thead>
              <tr>
                <th scope="col">Attempt</th>
                <th scope="col">Address</th>
                <th scope="col">Connection</th>
                <th scope="col">Result</th>
                <th scope="col" className="number">
                  Took
                </th>
              </tr>
            </thead>
            <tbody>
              {attempts.map((attempt, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the attempts of a record do not change
                <AttemptRow key={at} attempt={attempt} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Choice({ choice: { upstream, chosen, reason, others, more } }: { readonly choice: BalancerChoice }) {
  return (
    <div>
      <p>
        Upstream <EntityLink entity="upstreams" id={upstream} name={upstream} />:{' '}
        {chosen === null ? (
          <span className="badge danger">no address</span>
        ) : (
          <>
            chose <span className="mono">{visibleText(chosen)}</span>
          </>
        )}
        {reason !== null && ` (${visibleText(reason)})`}
      </p>
      {others.length > 0 && (
        <ul className="small muted">
          {others.map(({ address, because }) => (
            <li key={address}>
              <span className="mono">{visibleText(address)}</span>: {visibleText(because)}
            </li>
          ))}
          {more > 0 && <li>and {more.toLocaleString()} more</li>}
        </ul>
      )}
    </div>
  );
}

function AttemptRow({ attempt }: { readonly attempt: AttemptView }) {
  const { called_by: calledBy, host, address, connection, connect_ms: connect, ms, status, failed } = attempt;
  const named = address.startsWith(`${host}:`) || address.startsWith(`[${host}]`);
  return (
    <tr>
      <th scope="row">
        {attempt.try}
        {calledBy !== undefined && ` (called by ${visibleText(calledBy)})`}
      </th>
      <td className="mono">
        {visibleText(address)}
        {!named && ` ${visibleText(host)}`}
      </td>
      <td>
        {connection}
        {connect !== null && `, ${durationText(connect)}`}
      </td>
      <td>
        {failed ? (
          <>
            <span className="badge danger">failed</span> <WireText text={attempt.error ?? ''} max={200} />
          </>
        ) : (
          <span className="mono">{status ?? 'no answer'}</span>
        )}
        {attempt.cause !== undefined && (
          <>
            {' '}
            (<WireText text={attempt.cause} max={300} />)
          </>
        )}
      </td>
      <td className="number mono">{ms === null ? 'not ended' : durationText(ms)}</td>
    </tr>
  );
}
