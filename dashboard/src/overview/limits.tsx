import { RelativeTime } from '../components/relative-time.tsx';
import { countText } from './numbers.ts';
import type { OverviewState, UsageRow } from './overview-data.ts';
import { EntityLink, nameOf, TrafficLink, trafficOf } from './traffic-link.tsx';

interface LimitsProps {
  /** Plugin instances that were hit in the last minute; null: not known. */
  readonly hits: OverviewState['limits'];
  /** Answers with 429 by route and consumer; null: not counted. */
  readonly limited: readonly UsageRow[] | null;
  readonly period: string;
}

/** Which limits are being hit, and by which consumers. */
export function Limits({ hits, limited, period }: LimitsProps) {
  return (
    <section className="card ov-list" aria-labelledby="limits">
      <h3 id="limits">Limits being hit</h3>
      {hits === null || hits.data.length === 0 ? (
        <p className="ov-none">{hits === null ? 'Not known.' : 'None in the last minute.'}</p>
      ) : (
        <table className="ov-table">
          <thead>
            <tr>
              <th scope="col">Plugin</th>
              <th scope="col" className="number">
                Rejected
              </th>
              <th scope="col" className="number">
                Delayed
              </th>
              <th scope="col" className="number">
                Last
              </th>
            </tr>
          </thead>
          <tbody>
            {hits.data.map(({ plugin, rejected, delayed, last }) => (
              <tr key={plugin.id}>
                <th scope="row">
                  <EntityLink entity="plugins" id={plugin.id}>
                    {plugin.name}
                  </EntityLink>
                </th>
                <td className="number">
                  <TrafficLink search={{ status: '429' }}>{countText(rejected)}</TrafficLink>
                </td>
                <td className="number">{countText(delayed)}</td>
                <td className="number muted">
                  <RelativeTime seconds={last} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {limited !== null && limited.length > 0 && (
        <table className="ov-table">
          <caption>Answers with 429 in {period}</caption>
          <thead>
            <tr>
              <th scope="col">Route</th>
              <th scope="col">Consumer</th>
              <th scope="col" className="number">
                Requests
              </th>
            </tr>
          </thead>
          <tbody>
            {limited.map(({ route, consumer, requests }) => {
              const [ofRoute, ofConsumer] = [trafficOf('route', route), trafficOf('consumer', consumer)];
              return (
                <tr key={`${route?.id} ${consumer?.id}`}>
                  <th scope="row">
                    {route === null || route === undefined ? (
                      <span className="muted">No route</span>
                    ) : ofRoute === null ? (
                      <span className="muted">All others</span>
                    ) : (
                      <EntityLink entity="routes" id={route.id}>
                        {nameOf(route)}
                      </EntityLink>
                    )}
                  </th>
                  <td>
                    {consumer === null || consumer === undefined ? (
                      <span className="muted">none</span>
                    ) : ofConsumer === null ? (
                      <span className="muted">all others</span>
                    ) : (
                      <EntityLink entity="consumers" id={consumer.id}>
                        {nameOf(consumer)}
                      </EntityLink>
                    )}
                  </td>
                  <td className="number">
                    <TrafficLink search={{ ...ofRoute, ...ofConsumer, status: '429' }}>
                      {countText(requests)}
                    </TrafficLink>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </section>
  );
}
