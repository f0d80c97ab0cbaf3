import { countText, shareText } from './numbers.ts';
import type { UsageRow } from './overview-data.ts';
import { TrafficLink } from './traffic-link.tsx';

const classes = ['1', '2', '3', '4', '5'] as const;

/** Answers by status: a bar of the first digits, and a list of the statuses. */
export function StatusMix({ rows, period }: { readonly rows: readonly UsageRow[]; readonly period: string }) {
  const all = rows.reduce((sum, { requests }) => sum + requests, 0);
  const ofClass = (digit: string): number =>
    rows.reduce((sum, { status, requests }) => (String(status).startsWith(digit) ? sum + requests : sum), 0);
  return (
    <section className="card ov-list" aria-labelledby="statuses">
      <h3 id="statuses">Statuses</h3>
      {all === 0 ? (
        <p className="ov-none">No requests in {period}.</p>
      ) : (
        <>
          <div className="ov-mix" aria-hidden="true">
            {classes.map((digit) => (
              <span key={digit} className={`s${digit}`} style={{ flexGrow: ofClass(digit) }} />
            ))}
          </div>
          <table className="ov-table">
            <thead>
              <tr>
                <th scope="col">Status</th>
                <th scope="col" className="number">
                  Requests
                </th>
                <th scope="col" className="number">
                  Share
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ status = '', requests }) => (
                <tr key={status}>
                  <th scope="row">
                    <span className={`ov-square s${String(status)[0]}`} aria-hidden="true" />
                    {status}
                  </th>
                  <td className="number">
                    <TrafficLink search={{ status: String(status) }}>{countText(requests)}</TrafficLink>
                  </td>
                  <td className="number muted">{shareText(requests, all)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </section>
  );
}
