import { SeriesReader } from '../../../plugin-kit/shared-memory/index.ts';
import type { OtlpFamily } from '../../../plugin-kit/telemetry/otlp/index.ts';
import type { HistogramSeries } from '../../../plugin-sdk/index.ts';
import {
  clientLabels,
  type DurationKind,
  durationBounds,
  durationCells,
  labelTypes,
  overflowLabel,
  serverLabels,
  sumCell,
} from './duration-series.ts';

const families = {
  server: { name: 'http.server.request.duration', help: 'Duration of HTTP server requests.', labels: serverLabels },
  client: { name: 'http.client.request.duration', help: 'Duration of HTTP client requests.', labels: clientLabels },
} as const;

/** Reads the durations of one kind that an instance has recorded. Caches the known series. */
export function openDurations(kind: DurationKind, memory: SharedArrayBuffer): OtlpFamily {
  const reader = new SeriesReader(memory, durationCells);
  const { name, help, labels } = families[kind];
  return {
    name,
    help,
    type: 'histogram',
    unit: 's',
    bounds: durationBounds,
    labelNames: [...labels, overflowLabel],
    labelTypes,
    series: { [Symbol.iterator]: () => seriesOf(reader, labels.length) },
  };
}

function* seriesOf(reader: SeriesReader, labelCount: number): Generator<HistogramSeries> {
  for (const _ of reader.update());
  const cells = new Float64Array(durationCells);
  for (const entry of reader.known()) yield seriesFrom([...entry.labels, ''], reader.sum(entry, cells));
  const lost = reader.overflow();
  if (lost.some((count) => count > 0))
    yield seriesFrom([...Array.from({ length: labelCount }, () => ''), 'true'], lost);
}

function seriesFrom(labels: readonly string[], cells: Float64Array): HistogramSeries {
  return { labels, counts: cells.subarray(0, sumCell), sum: cells[sumCell] ?? 0 };
}
