import { otlpMessage } from './otlp-definitions.ts';

/** A point of a metric as the definitions of the specification decode it. Times are nanoseconds since the epoch, 0 for none. */
export interface ReceivedPoint {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly start: bigint;
  readonly time: bigint;
  /** Value of gauges and sums. */
  readonly value: number;
  /** Fields of histograms. */
  readonly count: number;
  readonly sum: number;
  readonly buckets: readonly number[];
  readonly bounds: readonly number[];
}

export interface ReceivedMetric {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly kind: 'gauge' | 'sum' | 'histogram';
  /** 0: unspecified, 1: delta, 2: cumulative. */
  readonly temporality: number;
  readonly monotonic: boolean;
  readonly points: readonly ReceivedPoint[];
  readonly resource: Readonly<Record<string, unknown>>;
  readonly scope: string;
}

interface Plain {
  readonly [name: string]: unknown;
}

const plain = { longs: String, defaults: true, arrays: true };

export function decodeMetrics(bytes: Uint8Array): ReceivedMetric[] {
  const type = otlpMessage('ExportMetricsServiceRequest');
  const message = type.toObject(type.decode(bytes), plain);
  return (message['resourceMetrics'] as Plain[]).flatMap((group) => {
    const resource = attributesOf((group['resource'] as Plain)['attributes']);
    return (group['scopeMetrics'] as Plain[]).flatMap((scope) =>
      (scope['metrics'] as Plain[]).map((one) => metricOf(one, resource, String((scope['scope'] as Plain)['name']))),
    );
  });
}

/** The answer of a receiver that rejects some data points. */
export function partialSuccess(rejectedDataPoints: number, errorMessage: string): Uint8Array {
  const type = otlpMessage('ExportMetricsServiceResponse');
  return type.encode({ partialSuccess: { rejectedDataPoints, errorMessage } }).finish();
}

function metricOf(one: Plain, resource: Readonly<Record<string, unknown>>, scope: string): ReceivedMetric {
  const kind = (['gauge', 'sum', 'histogram'] as const).find((name) => one[name] != null);
  if (kind === undefined) throw new Error(`a metric without data: ${JSON.stringify(one)}`);
  const data = one[kind] as Plain;
  return {
    name: String(one['name']),
    description: String(one['description']),
    unit: String(one['unit']),
    kind,
    temporality: Number(data['aggregationTemporality'] ?? 0),
    monotonic: data['isMonotonic'] === true,
    points: (data['dataPoints'] as Plain[]).map(pointOf),
    resource,
    scope,
  };
}

function pointOf(point: Plain): ReceivedPoint {
  return {
    attributes: attributesOf(point['attributes']),
    start: BigInt(String(point['startTimeUnixNano'])),
    time: BigInt(String(point['timeUnixNano'])),
    value: Number(point['asDouble'] ?? point['asInt'] ?? Number.NaN),
    count: Number(point['count'] ?? 0),
    sum: Number(point['sum'] ?? 0),
    buckets: ((point['bucketCounts'] ?? []) as string[]).map(Number),
    bounds: (point['explicitBounds'] ?? []) as number[],
  };
}

function attributesOf(list: unknown): Record<string, unknown> {
  return Object.fromEntries(
    (list as Plain[]).map((one) => {
      const { stringValue, intValue, boolValue } = one['value'] as Plain;
      return [String(one['key']), stringValue ?? boolValue ?? Number(intValue)];
    }),
  );
}
