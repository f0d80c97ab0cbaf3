import { Link } from '@tanstack/react-router';
import { bytesText, countText, durationText, rateText } from './numbers.ts';
import type { NodeState, OverviewState } from './overview-data.ts';

/** A busy event loop, seconds. */
const slowLoop = 0.1;

export function WorkerList({ workers }: { readonly workers: OverviewState['workers'] }) {
  return (
    <section className="card ov-list" aria-labelledby="workers">
      <h3 id="workers">Workers</h3>
      {workers === null ? (
        <p className="ov-none">Not known.</p>
      ) : (
        <>
          <p className="ov-none">
            {workers.wanted > 0 && `${workers.listening} of ${workers.wanted} listen. `}
            {workers.wanted === 0
              ? 'A control plane has none.'
              : workers.restarts === 0
                ? 'None was replaced.'
                : `${countText(workers.restarts)} were replaced since the start, ${countText(workers.stuck)} of them stuck.`}
          </p>
          {workers.data.length > 0 && (
            <table className="ov-table">
              <thead>
                <tr>
                  <th scope="col">Worker</th>
                  <th scope="col">State</th>
                  <th scope="col" className="number">
                    Loop delay
                  </th>
                  <th scope="col" className="number">
                    Heap
                  </th>
                </tr>
              </thead>
              <tbody>
                {workers.data.map(({ worker, state, event_loop_delay: delay, heap_used: heap }) => (
                  <tr key={worker}>
                    <th scope="row">{worker}</th>
                    <td className={state === 'listening' ? '' : 'bad'}>{state}</td>
                    <td className={delay >= slowLoop ? 'number bad' : 'number'}>{durationText(delay * 1000)}</td>
                    <td className="number">{bytesText(heap)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </>
      )}
    </section>
  );
}

interface NodeListProps {
  readonly nodes: OverviewState['nodes'];
  /** Id of the node that answers; null: not known. */
  readonly own: string | null;
  readonly version: number | null;
}

/** The nodes of the database, those that are not ready first. */
export function NodeList({ nodes, own, version }: NodeListProps) {
  return (
    <section className="card ov-list wide" aria-labelledby="nodes">
      <h3 id="nodes">Nodes</h3>
      {nodes === null ? (
        <p className="ov-none">Not known: the database did not answer in time.</p>
      ) : (
        <>
          <p className="ov-none">
            {countText(nodes.ready)} of {countText(nodes.total)} are ready.{' '}
            {version !== null && version > 0 && (
              <>
                Config version{' '}
                <Link to="/history/$version" params={{ version: String(version) }}>
                  {countText(version)}
                </Link>
                .
              </>
            )}
          </p>
          <table className="ov-table">
            <thead>
              <tr>
                <th scope="col">Node</th>
                <th scope="col">State</th>
                <th scope="col" className="number">
                  Requests/s
                </th>
                <th scope="col" className="number">
                  Behind
                </th>
              </tr>
            </thead>
            <tbody>
              {nodes.data.map((node) => (
                <NodeRow key={node.id} node={node} own={node.id === own} />
              ))}
            </tbody>
          </table>
          {nodes.total > nodes.data.length && (
            <p className="ov-none">These are the first {countText(nodes.data.length)}.</p>
          )}
        </>
      )}
    </section>
  );
}

function NodeRow({ node, own }: { readonly node: NodeState; readonly own: boolean }) {
  const { hostname, id, role, state, version, lag_versions: lag, requests_per_second: rate } = node;
  return (
    <tr>
      <th scope="row" title={`${id}, version ${version}`}>
        {hostname} {own && <span className="badge">this one</span>}
        {role !== 'traditional' && <span className="badge">{role.replaceAll('_', ' ')}</span>}
      </th>
      <td className={state === 'ready' ? '' : 'bad'}>{state}</td>
      <td className="number">{rate === null ? '–' : rateText(rate)}</td>
      <td className="number">{lag === null ? '–' : lag === 0 ? '0' : `${countText(lag)} versions`}</td>
    </tr>
  );
}
