import { Fragment, useMemo, useSyncExternalStore } from 'react';
import type { LiveWindow } from './live-window.ts';
import { bytesText, compactText, countText, durationText, rateText, shareText } from './numbers.ts';
import type { Latency, Overview, Second, Summary } from './overview-data.ts';
import type { PlotLine } from './plot-lines.ts';
import { type Figure, PlotPanel } from './plot-panel.tsx';
import type { HistoryRange } from './ranges.ts';
import { slowerThan, TrafficLink } from './traffic-link.tsx';

const requestLines: readonly PlotLine[] = [{ label: 'Requests', colour: '--accent', style: 'area' }];
const errorLines: readonly PlotLine[] = [
  { label: '4xx', colour: '--warn', style: 'dashed' },
  { label: '5xx', colour: '--danger', style: 'solid' },
];
const latencyLines: readonly PlotLine[] = [
  { label: 'p50', colour: '--ok', style: 'dotted' },
  { label: 'p90', colour: '--accent', style: 'dashed' },
  { label: 'p99', colour: '--violet', style: 'solid' },
];

/** The last five minutes, by the second. `overview`: for what the events do not have. */
export function LiveHeadline({
  live,
  overview,
}: {
  readonly live: LiveWindow;
  readonly overview: Overview | undefined;
}) {
  const version = useSyncExternalStore(live.subscribe, () => live.version);
  const { columns, latest } = live;
  const shared = { time: columns.time, version, step: 1 };
  const totals = live.totals();
  const minuteLatency = overview?.traffic.last_minute.latency ?? null;
  const errors = totals.clientErrors + totals.serverErrors;
  return (
    <>
      <div className="ov-panels">
        <PlotPanel
          title="Requests"
          lines={requestLines}
          values={{ ...shared, values: [columns.requests] }}
          format={rateText}
          least={4}
          figures={[
            {
              label: 'a second',
              line: 0,
              value: (
                <TrafficLink search={{}} label={`${rate(latest?.requests_per_second)} requests a second`}>
                  {rate(latest?.requests_per_second)}
                </TrafficLink>
              ),
            },
          ]}
          note={
            <>
              <TrafficLink search={{}}>{countText(totals.requests)}</TrafficLink> in the last minute
            </>
          }
        />
        <PlotPanel
          title="Errors"
          lines={errorLines}
          values={{ ...shared, values: [columns.clientErrors, columns.serverErrors] }}
          format={rateText}
          least={4}
          figures={(['4xx', '5xx'] as const).map((status, line) => {
            const value = latest === null ? '–' : rateText(latest.errors[status] / Math.max(latest.seconds, 0.5));
            return {
              label: `${status} a second`,
              line,
              value: (
                <TrafficLink search={{ status }} label={`${value} answers with ${status} a second`}>
                  {value}
                </TrafficLink>
              ),
            };
          })}
          note={
            <>
              <TrafficLink search={{ status: '4xx' }}>{countText(totals.clientErrors)} 4xx</TrafficLink> and{' '}
              <TrafficLink search={{ status: '5xx' }}>{countText(totals.serverErrors)} 5xx</TrafficLink> in the last
              minute, {shareText(errors, totals.requests)}
            </>
          }
        />
        <PlotPanel
          title="Latency"
          lines={latencyLines}
          values={{ ...shared, values: [columns.p50, columns.p90, columns.p99] }}
          format={durationText}
          least={1}
          figures={latencyFigures(latest?.latency ?? null)}
          note={
            minuteLatency === null ? (
              'no requests in the last minute'
            ) : (
              <>
                last minute:{' '}
                {(['p50', 'p90', 'p99'] as const).map((name, at) => (
                  <Fragment key={name}>
                    {at > 0 && ', '}
                    <TrafficLink search={slowerThan(minuteLatency[name])}>
                      {durationText(minuteLatency[name])}
                    </TrafficLink>
                  </Fragment>
                ))}
              </>
            )
          }
        />
      </div>
      <dl className="card ov-strip">
        <Cell label="In flight" value={latest === null ? '–' : countText(latest.in_flight)} />
        <Cell label="Connections" value={latest === null ? '–' : countText(latest.connections)} />
        <Cell label="Received" value={bytesRate(latest, 'bytes_in')} unit="/s" />
        <Cell label="Sent" value={bytesRate(latest, 'bytes_out')} unit="/s" />
        <Cell label="Retries" value={ofMinute(overview, 'retries')} unit="last minute" />
        <Cell label="Failed attempts" value={ofMinute(overview, 'backend_failures')} unit="last minute" />
        <Cell label="Malformed" value={ofMinute(overview, 'bad_requests')} unit="last minute" />
      </dl>
    </>
  );
}

function rate(value: number | undefined): string {
  return value === undefined ? '–' : rateText(value);
}

function ofMinute(overview: Overview | undefined, name: 'retries' | 'backend_failures' | 'bad_requests'): string {
  return overview === undefined ? '–' : countText(overview.traffic.last_minute[name]);
}

function bytesRate(latest: Second | null, name: 'bytes_in' | 'bytes_out'): string {
  return latest === null ? '–' : bytesText(latest[name] / Math.max(latest.seconds, 0.5));
}

interface CellProps {
  readonly label: string;
  readonly value: string;
  readonly unit?: string;
}

function Cell({ label, value, unit }: CellProps) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        {value} {unit !== undefined && <small>{unit}</small>}
      </dd>
    </div>
  );
}

function latencyFigures(latency: Latency | null): readonly Figure[] {
  return (['p50', 'p90', 'p99'] as const).map((name, line) => {
    const value = latency?.[name] ?? null;
    return {
      label: name,
      line,
      value:
        value === null ? (
          '–'
        ) : (
          <TrafficLink search={slowerThan(value)} label={`${name} ${durationText(value)}`}>
            {durationText(value)}
          </TrafficLink>
        ),
    };
  });
}

const steps = { minute: 60, hour: 3_600, day: 86_400 } as const;

/** A range of the past, from analytics. */
export function HistoryHeadline({ summary, range }: { readonly summary: Summary; readonly range: HistoryRange }) {
  const step = steps[summary.resolution];
  const { time, values } = useMemo(() => timelineOf(summary), [summary]);
  const { totals, resolution } = summary;
  const shared = { time, version: summary.to, step };
  const seconds = Math.max(1, (Date.parse(summary.to) - Date.parse(summary.from)) / 1000);
  const errors = totals.errors['4xx'] + totals.errors['5xx'];
  return (
    <div className="ov-panels">
      <PlotPanel
        title={`Requests by the ${resolution}`}
        lines={requestLines}
        values={{ ...shared, values: [values.requests] }}
        format={compactText}
        least={4}
        figures={[
          {
            label: 'in all',
            line: 0,
            value: (
              <TrafficLink search={{}} label={`${countText(totals.requests)} requests`}>
                {countText(totals.requests)}
              </TrafficLink>
            ),
          },
        ]}
        note={`${rateText((totals.requests / seconds) * step)} a ${resolution} on average in ${range.period}`}
      />
      <PlotPanel
        title={`Errors by the ${resolution}`}
        lines={errorLines}
        values={{ ...shared, values: [values.clientErrors, values.serverErrors] }}
        format={compactText}
        least={4}
        figures={(['4xx', '5xx'] as const).map((status, line) => ({
          label: status,
          line,
          value: (
            <TrafficLink search={{ status }} label={`${countText(totals.errors[status])} answers with ${status}`}>
              {countText(totals.errors[status])}
            </TrafficLink>
          ),
        }))}
        note={`${shareText(errors, totals.requests)} of the requests in ${range.period}`}
      />
      <PlotPanel
        title={`Latency by the ${resolution}`}
        lines={latencyLines}
        values={{ ...shared, values: [values.p50, values.p90, values.p99] }}
        format={durationText}
        least={1}
        figures={latencyFigures(totals.latency)}
        note={
          totals.latency === null ? 'no requests' : `${durationText(totals.latency.mean)} on average in ${range.period}`
        }
      />
    </div>
  );
}

/** Times without requests have no row: their counts are 0, and their latencies unknown. */
function timelineOf({ from, to, resolution, timeline }: Summary) {
  const step = steps[resolution];
  const start = Date.parse(from) / 1000;
  const length = Math.max(1, Math.min(4_000, Math.ceil((Date.parse(to) / 1000 - start) / step)));
  const time = Array.from({ length }, (_, at) => start + at * step);
  const column = (value: number | null) => new Array<number | null>(length).fill(value);
  const values = {
    ...{ requests: column(0), clientErrors: column(0), serverErrors: column(0) },
    ...{ p50: column(null), p90: column(null), p99: column(null) },
  };
  for (const { start: at = from, requests, errors, latency } of timeline) {
    const index = Math.round((Date.parse(at) / 1000 - start) / step);
    if (index < 0 || index >= length) continue;
    values.requests[index] = requests;
    values.clientErrors[index] = errors['4xx'];
    values.serverErrors[index] = errors['5xx'];
    for (const name of ['p50', 'p90', 'p99'] as const) values[name][index] = latency?.[name] ?? null;
  }
  return { time, values };
}
