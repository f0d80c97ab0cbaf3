import type { HistogramSeries } from '../../../plugin-sdk/metrics.ts';
import type { OtlpFamily } from '../../../plugin-sdk/otlp/metrics.ts';
import { SeriesReader } from '../../../plugin-sdk/series.ts';
import {
  clientKind,
  clientLabels,
  durationBounds,
  durationCells,
  serverKind,
  serverLabels,
  sumCell,
  wholeLabels,
} from './duration-series.ts';

/** Reads the durations of requests that one instance has recorded. Remembers which series there are. */
export function openDurations(memory: SharedArrayBuffer): () => readonly OtlpFamily[] {
  const reader = new SeriesReader(memory, durationCells);
  const family = (name: string, help: string, kind: string, labelNames: readonly string[]): OtlpFamily => ({
    name,
    help,
    type: 'histogram',
    unit: 's',
    bounds: durationBounds,
    // What found no place is told apart by the label that OpenTelemetry's specification of metrics has for it.
    labelNames: [...labelNames, 'otel.metric.overflow'],
    wholeLabels,
    series: { [Symbol.iterator]: () => seriesOf(reader, kind, labelNames.length) },
  });
  return () => [
    family('http.server.request.duration', 'Duration of HTTP server requests.', serverKind, serverLabels),
    family('http.client.request.duration', 'Duration of HTTP client requests.', clientKind, clientLabels),
  ];
}

function* seriesOf(reader: SeriesReader, kind: string, labelCount: number): Generator<HistogramSeries> {
  for (const _ of reader.update());
  const cells = new Float64Array(durationCells);
  for (const entry of reader.known()) {
    if (entry.labels[0] === kind) yield seriesFrom([...entry.labels.slice(1), ''], reader.sum(entry, cells));
  }
  if (kind !== serverKind) return;
  const lost = reader.overflow();
  if (lost.some((count) => count > 0))
    yield seriesFrom([...Array.from({ length: labelCount }, () => ''), 'true'], lost);
}

function seriesFrom(labels: readonly string[], cells: Float64Array): HistogramSeries {
  return { labels, counts: cells.subarray(0, sumCell), sum: cells[sumCell] ?? 0 };
}
