import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MetricFamily } from '../../plugin-sdk/metrics.ts';
import { type MetricsFormat, metricsText } from './text-format.ts';

/** Milliseconds of work before the thread yields to other work. */
const slice = 5;

/** The text of all families as bytes, generated no faster than it is read, and in short slices of time. */
export function metricsStream(
  families: readonly MetricFamily[],
  format: MetricsFormat,
  failed: (family: string, error: unknown) => void,
): Readable {
  // Pieces have dozens of KiB, so a small buffer is enough.
  return Readable.from(pieces(families, format, failed), { highWaterMark: 4 });
}

async function* pieces(
  families: readonly MetricFamily[],
  format: MetricsFormat,
  failed: (family: string, error: unknown) => void,
): AsyncGenerator<Buffer> {
  let begun = performance.now();
  for (const piece of metricsText(families, format, failed)) {
    yield Buffer.from(piece);
    if (performance.now() - begun < slice) continue;
    await nextTurn();
    begun = performance.now();
  }
}
