import type { EncodedFamily, OtlpFamily, Resource } from '../../../plugin-kit/telemetry/otlp/index.ts';
import { encodePoint, metricsRequest, pointTimes } from '../../../plugin-kit/telemetry/otlp/index.ts';
import type { HistogramSeries, ScalarSeries } from '../../../plugin-sdk/index.ts';
import type { StartTimes } from './start-times.ts';

/** A message to send. */
export interface MetricsMessage {
  readonly body: Uint8Array;
  readonly points: number;
}

export interface MetricsMessageOptions {
  readonly families: readonly OtlpFamily[];
  readonly resource: Resource;
  readonly starts: StartTimes;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Called for a family whose series cannot be read. */
  readonly failed: (family: string, error: unknown) => void;
}

/** Maximum bytes and points of a message: collectors have limits, and so has our memory. */
const maxBytes = 128 * 1024;
const maxPoints = 1000;

/** Milliseconds of work before it yields to the event loop. */
const slice = 2;

/** All families as messages, in reading order. It yields to the event loop in between, so reading takes a while. */
export async function* metricsMessages(options: MetricsMessageOptions): AsyncGenerator<MetricsMessage> {
  const { families, resource, starts, now, failed } = options;
  let batch: EncodedFamily[] = [];
  let bytes = 0;
  let count = 0;
  let sliceEnd = performance.now() + slice;

  const close = (): MetricsMessage => {
    const message = { body: metricsRequest(resource, batch), points: count };
    batch = [];
    bytes = 0;
    count = 0;
    return message;
  };

  for (const family of families) {
    const times = pointTimes(starts.of(family.name), now);
    let points: Uint8Array[] = [];
    let total = 0;
    const series = seriesOf(family, failed);
    for (let step = series.next(); step.done !== true; step = series.next()) {
      const point = encodePoint(family, step.value, times);
      total += totalOf(family, step.value);
      if (point !== null) {
        if (points.length === 0) batch.push({ family, points });
        points.push(point);
        bytes += point.byteLength;
        count++;
      }
      if (bytes >= maxBytes || count >= maxPoints) {
        yield close();
        points = [];
        await turn();
        sliceEnd = performance.now() + slice;
      } else if (performance.now() >= sliceEnd) {
        await turn();
        sliceEnd = performance.now() + slice;
      }
    }
    if (family.type !== 'gauge') starts.observe(family.name, total, now);
  }
  if (count > 0) yield close();
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The series of a family; a failed family ends here, and the others continue. */
function* seriesOf(
  family: OtlpFamily,
  failed: MetricsMessageOptions['failed'],
): Generator<ScalarSeries | HistogramSeries, void> {
  try {
    yield* family.series;
  } catch (error) {
    failed(family.name, error);
  }
}

/** Values that only grow, unless the counter was reset. */
function totalOf(family: OtlpFamily, series: ScalarSeries | HistogramSeries): number {
  if (family.type !== 'histogram') return (series as ScalarSeries).value;
  const { counts } = series as HistogramSeries;
  let total = 0;
  for (let at = 0; at < counts.length; at++) total += counts[at] ?? 0;
  return total;
}
