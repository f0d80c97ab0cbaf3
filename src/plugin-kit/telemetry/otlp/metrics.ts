import type { HistogramFamily, HistogramSeries, MetricFamily, ScalarSeries } from '../../../plugin-sdk/metrics.ts';
import { type AnyValue, type KeyValue, type Resource, scope, sentText } from './attributes.ts';
import { type Bits64, nanoseconds, otlpEncoder, otlpTypes } from './messages.ts';

/** A metric family with the properties that OpenTelemetry has in addition to Prometheus. */
export type OtlpFamily = MetricFamily & {
  /** UCUM: `s`, `By`. Default: from the suffix of the name. */
  readonly unit?: string;
  /** Labels that are not strings: integers, or `true` if present. */
  readonly labelTypes?: ReadonlyMap<string, 'whole' | 'flag'>;
};

const types = otlpTypes(`
message MetricsRequest { repeated ResourceMetrics resource_metrics = 1; }
message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; }
message ScopeMetrics { Scope scope = 1; repeated Metric metrics = 2; }
message Metric {
  string name = 1;
  string description = 2;
  string unit = 3;
  oneof data { MetricPoints gauge = 5; MetricPoints sum = 7; MetricPoints histogram = 9; }
}
message MetricPoints { repeated bytes data_points = 1; int32 aggregation_temporality = 2; bool is_monotonic = 3; }
message NumberPoint {
  fixed64 start_time_unix_nano = 2;
  fixed64 time_unix_nano = 3;
  oneof value { double as_double = 4; }
  repeated KeyValue attributes = 7;
}
message HistogramPoint {
  fixed64 start_time_unix_nano = 2;
  fixed64 time_unix_nano = 3;
  fixed64 count = 4;
  oneof total { double sum = 5; }
  repeated fixed64 bucket_counts = 6;
  repeated double explicit_bounds = 7;
  repeated KeyValue attributes = 9;
}
`);

interface PointMessage {
  readonly startTimeUnixNano?: Bits64;
  readonly timeUnixNano: Bits64;
  readonly attributes: readonly KeyValue[];
}

interface NumberPointMessage extends PointMessage {
  readonly asDouble: number;
}

interface HistogramPointMessage extends PointMessage {
  readonly count: number;
  readonly sum: number;
  readonly bucketCounts: readonly number[];
  readonly explicitBounds: readonly number[];
}

interface PointsMessage {
  readonly dataPoints: readonly Uint8Array[];
  readonly aggregationTemporality?: number;
  readonly isMonotonic?: boolean;
}

interface MetricMessage {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly gauge?: PointsMessage;
  readonly sum?: PointsMessage;
  readonly histogram?: PointsMessage;
}

interface MetricsRequest {
  readonly resourceMetrics: readonly {
    readonly resource: Resource;
    readonly scopeMetrics: readonly {
      readonly scope: { readonly name: string; readonly version: string };
      readonly metrics: readonly MetricMessage[];
    }[];
  }[];
}

const writeNumberPoint = otlpEncoder<NumberPointMessage>(types, 'NumberPoint');
const writeHistogramPoint = otlpEncoder<HistogramPointMessage>(types, 'HistogramPoint');
const writeRequest = otlpEncoder<MetricsRequest>(types, 'MetricsRequest');

/** AGGREGATION_TEMPORALITY_CUMULATIVE: counted since the start time. */
const cumulative = 2;

/** Start time of the sums, and time of the reading. */
export interface PointTimes {
  readonly start: Bits64;
  readonly now: Bits64;
}

/** Milliseconds since the epoch. */
export function pointTimes(start: number, now: number): PointTimes {
  return { start: nanoseconds(start), now: nanoseconds(now) };
}

/** One series of a family as a point; null: its value cannot be sent. */
export function encodePoint(
  family: OtlpFamily,
  series: ScalarSeries | HistogramSeries,
  times: PointTimes,
): Uint8Array | null {
  const attributes = attributesOf(family, series.labels);
  if (family.type === 'histogram') return histogramPoint(family, series as HistogramSeries, times, attributes);
  const { value } = series as ScalarSeries;
  if (!Number.isFinite(value)) return null;
  const timeUnixNano = times.now;
  return family.type === 'counter'
    ? writeNumberPoint({ startTimeUnixNano: times.start, timeUnixNano, asDouble: value, attributes })
    : writeNumberPoint({ timeUnixNano, asDouble: value, attributes });
}

function histogramPoint(
  { bounds }: HistogramFamily,
  { counts, sum }: HistogramSeries,
  { start, now }: PointTimes,
  attributes: readonly KeyValue[],
): Uint8Array {
  const bucketCounts = Array.from({ length: bounds.length + 1 }, (_, at) => counts[at] ?? 0);
  const count = bucketCounts.reduce((total, one) => total + one, 0);
  return writeHistogramPoint({
    startTimeUnixNano: start,
    timeUnixNano: now,
    count,
    sum,
    bucketCounts,
    explicitBounds: bounds,
    attributes,
  });
}

/** An empty label is an absent label, as in Prometheus. */
function attributesOf({ labelNames, labelTypes }: OtlpFamily, labels: readonly string[]): readonly KeyValue[] {
  const attributes: KeyValue[] = [];
  for (let at = 0; at < labelNames.length; at++) {
    const key = labelNames[at] ?? '';
    const text = labels[at] ?? '';
    if (text === '') continue;
    attributes.push({ key, value: attributeValue(text, labelTypes?.get(key)) });
  }
  return attributes;
}

function attributeValue(text: string, type: 'whole' | 'flag' | undefined): AnyValue {
  if (type === 'flag') return { boolValue: true };
  return type === 'whole' && /^\d{1,15}$/.test(text) ? { intValue: Number(text) } : { stringValue: sentText(text) };
}

/** The points of a family, from `encodePoint`. */
export interface EncodedFamily {
  readonly family: OtlpFamily;
  readonly points: readonly Uint8Array[];
}

/** The message to send for some families of one resource. */
export function metricsRequest(resource: Resource, families: readonly EncodedFamily[]): Uint8Array {
  return writeRequest({ resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics: families.map(metricOf) }] }] });
}

function metricOf({ family, points: dataPoints }: EncodedFamily): MetricMessage {
  const { name, help, unit = unitOf(name) } = family;
  const head = { name, description: help, unit };
  if (family.type === 'gauge') return { ...head, gauge: { dataPoints } };
  const sum = { dataPoints, aggregationTemporality: cumulative };
  return family.type === 'counter' ? { ...head, sum: { ...sum, isMonotonic: true } } : { ...head, histogram: sum };
}

function unitOf(name: string): string {
  const base = name.replace(/_total$/, '');
  if (base.endsWith('_ms')) return 'ms';
  if (base.endsWith('_seconds')) return 's';
  return base.endsWith('_bytes') ? 'By' : '';
}
