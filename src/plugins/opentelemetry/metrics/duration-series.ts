/** Seconds: the bounds that OpenTelemetry's conventions name for durations of HTTP requests. */
export const durationBounds: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];

/** A count for each bucket, followed by the sum. */
export const sumCell = durationBounds.length + 1;
export const durationCells = sumCell + 1;

/** Whether the gateway is the server or the client. */
export type DurationKind = 'server' | 'client';

export const serverLabels: readonly string[] = [
  'http.request.method',
  'url.scheme',
  'http.route',
  'http.response.status_code',
  'error.type',
  'network.protocol.version',
];

export const clientLabels: readonly string[] = [
  'http.request.method',
  'url.scheme',
  'server.address',
  'server.port',
  'http.response.status_code',
  'error.type',
];

/** The label of the overflow series, from OpenTelemetry's metrics specification. */
export const overflowLabel = 'otel.metric.overflow';

export const labelTypes: ReadonlyMap<string, 'whole' | 'flag'> = new Map([
  ['http.response.status_code', 'whole'],
  ['server.port', 'whole'],
  [overflowLabel, 'flag'],
]);
