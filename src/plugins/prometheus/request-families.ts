import type {
  HistogramFamily,
  HistogramSeries,
  MetricFamily,
  ScalarFamily,
  ScalarSeries,
} from '../../plugin-sdk/index.ts';
import {
  additions,
  egress,
  gatewayAt,
  gatewayBounds,
  ingress,
  ofBoth,
  ofRequests,
  ofStreams,
  totalAt,
  upstreamAt,
  upstreamBounds,
} from './series-kinds.ts';
import { overflowOf, type SeriesSource, seriesOf } from './series-source.ts';

export interface KindMemories {
  readonly requests: SeriesSource;
  readonly times: SeriesSource;
  readonly bytes: SeriesSource;
}

/** Kong has workspaces only in its paid edition, too, but the label is always there. */
const workspace = 'default';
/** Labels of the overflow series. */
const overflow = 'overflow';
const routeLabels = ['service', 'route', 'workspace'];

/** Kong's families of requests and streams; disabled ones, and those without series yet, are empty. */
export function requestFamilies({ requests, times, bytes }: KindMemories): readonly MetricFamily[] {
  const families: MetricFamily[] = [errors({ requests, times, bytes })];
  if (requests.readers.length > 0) families.push(httpRequests(requests), streamSessions(requests));
  if (bytes.readers.length > 0) families.push(bandwidth(bytes));
  if (times.readers.length > 0) families.push(...latencies(times));
  return families;
}

/** Number of values that went to the overflow series. */
function errors({ requests, times, bytes }: KindMemories): ScalarFamily {
  const value =
    overflowOf(requests)[0]! +
    sumOf(overflowOf(times), totalAt, upstreamBounds.length + 1) +
    overflowOf(bytes)[additions]!;
  return {
    name: 'kong_nginx_metric_errors_total',
    help: 'Number of nginx-lua-prometheus errors',
    type: 'counter',
    labelNames: [],
    series: [{ labels: [], value }],
  };
}

function httpRequests(source: SeriesSource): ScalarFamily {
  return {
    name: 'kong_http_requests_total',
    help: 'HTTP status codes per consumer/service/route in Kong',
    type: 'counter',
    labelNames: ['service', 'route', 'code', 'source', 'workspace', 'consumer'],
    series: { [Symbol.iterator]: () => requestSeries(source) },
  };
}

function* requestSeries(source: SeriesSource): Generator<ScalarSeries> {
  for (const { labels, cells } of seriesOf(source, ofRequests)) {
    const [, service = '', route = '', code = '', from = '', consumer = ''] = labels;
    yield { labels: [service, route, code, from, workspace, consumer], value: cells[0]! };
  }
  const lost = overflowOf(source)[0]!;
  if (lost > 0) yield { labels: [overflow, overflow, overflow, overflow, workspace, overflow], value: lost };
}

function streamSessions(source: SeriesSource): ScalarFamily {
  return {
    name: 'kong_stream_sessions_total',
    help: 'Stream status codes per service/route in Kong',
    type: 'counter',
    labelNames: ['service', 'route', 'code', 'source', 'workspace'],
    series: { [Symbol.iterator]: () => sessionSeries(source) },
  };
}

function* sessionSeries(source: SeriesSource): Generator<ScalarSeries> {
  for (const { labels, cells } of seriesOf(source, ofStreams)) {
    const [, service = '', route = '', code = '', from = ''] = labels;
    yield { labels: [service, route, code, from, workspace], value: cells[0]! };
  }
}

function bandwidth(source: SeriesSource): ScalarFamily {
  return {
    name: 'kong_bandwidth_bytes',
    help: 'Total bandwidth (ingress/egress) throughput in bytes',
    type: 'counter',
    labelNames: ['service', 'route', 'direction', 'workspace', 'consumer'],
    series: { [Symbol.iterator]: () => byteSeries(source) },
  };
}

function* byteSeries(source: SeriesSource): Generator<ScalarSeries> {
  for (const { labels, cells } of seriesOf(source, ofBoth)) {
    const [, service = '', route = '', consumer = ''] = labels;
    yield { labels: [service, route, 'egress', workspace, consumer], value: cells[egress]! };
    yield { labels: [service, route, 'ingress', workspace, consumer], value: cells[ingress]! };
  }
  const lost = overflowOf(source);
  for (const [direction, cell] of [
    ['egress', egress],
    ['ingress', ingress],
  ] as const) {
    if (lost[cell]! > 0) yield { labels: [overflow, overflow, direction, workspace, overflow], value: lost[cell]! };
  }
}

function latencies(source: SeriesSource): readonly HistogramFamily[] {
  const family = (
    name: string,
    help: string,
    kind: string,
    at: number,
    bounds: readonly number[],
  ): HistogramFamily => ({
    name,
    help,
    type: 'histogram',
    labelNames: routeLabels,
    bounds,
    series: { [Symbol.iterator]: () => histogramSeries(source, kind, at, bounds.length) },
  });
  return [
    family('kong_kong_latency_ms', 'Latency added by Kong in ms', ofRequests, gatewayAt, gatewayBounds),
    family('kong_upstream_latency_ms', 'Latency of upstreams in ms', ofRequests, upstreamAt, upstreamBounds),
    family('kong_request_latency_ms', 'Total latency of requests in ms', ofRequests, totalAt, upstreamBounds),
    family('kong_session_duration_ms', 'Duration of streams in ms', ofStreams, totalAt, upstreamBounds),
  ];
}

/** A route whose requests never reached a backend has no upstream latencies. */
function* histogramSeries(source: SeriesSource, kind: string, at: number, bounds: number): Generator<HistogramSeries> {
  for (const { labels, cells } of seriesOf(source, kind)) {
    const [, service = '', route = ''] = labels;
    const shown = histogram([service, route, workspace], cells, at, bounds);
    if (shown !== null) yield shown;
  }
  const lost = kind === ofRequests ? histogram([overflow, overflow, workspace], overflowOf(source), at, bounds) : null;
  if (lost !== null) yield lost;
}

function histogram(labels: readonly string[], cells: Float64Array, at: number, bounds: number): HistogramSeries | null {
  if (sumOf(cells, at, bounds + 1) === 0) return null;
  return { labels, counts: cells.slice(at, at + bounds + 1), sum: cells[at + bounds + 1]! };
}

function sumOf(cells: Float64Array, at: number, length: number): number {
  let sum = 0;
  for (let cell = at; cell < at + length; cell++) sum += cells[cell]!;
  return sum;
}
