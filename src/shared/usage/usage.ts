import { mergeSketches, readSketch, type Sketch } from './latency-sketch.ts';

/** The counts of requests with the same labels. Times are milliseconds. */
export interface Usage {
  readonly requests: number;
  /** Heads and bodies, from and to clients. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly latency: Latencies;
  /** Until the first byte of a backend, for requests that contacted one. */
  readonly upstream: Latencies;
}

export interface Latencies {
  readonly sum: number;
  readonly greatest: number;
  readonly sketch: Sketch;
}

export function mergeUsage(one: Usage, other: Usage): Usage {
  return {
    requests: one.requests + other.requests,
    bytesIn: one.bytesIn + other.bytesIn,
    bytesOut: one.bytesOut + other.bytesOut,
    latency: mergeLatencies(one.latency, other.latency),
    upstream: mergeLatencies(one.upstream, other.upstream),
  };
}

function mergeLatencies(one: Latencies, other: Latencies): Latencies {
  return {
    sum: one.sum + other.sum,
    greatest: Math.max(one.greatest, other.greatest),
    sketch: mergeSketches(one.sketch, other.sketch),
  };
}

/** The form in the store. */
export function writeUsage({ requests, bytesIn, bytesOut, latency, upstream }: Usage): string {
  return JSON.stringify([
    requests,
    bytesIn,
    bytesOut,
    micros(latency.sum),
    micros(latency.greatest),
    micros(upstream.sum),
    micros(upstream.greatest),
    latency.sketch,
    upstream.sketch,
  ]);
}

/** Null when the text was not written by `writeUsage`. */
export function readUsage(text: string): Usage | null {
  const value = parsed(text);
  if (!Array.isArray(value) || value.length !== 9) return null;
  const [requests, bytesIn, bytesOut, sum, greatest, upstreamSum, upstreamGreatest] = value as number[];
  if (!value.slice(0, 7).every(Number.isFinite)) return null;
  const sketch = readSketch(value[7]);
  const upstreamSketch = readSketch(value[8]);
  if (sketch === null || upstreamSketch === null) return null;
  return {
    requests: requests!,
    bytesIn: bytesIn!,
    bytesOut: bytesOut!,
    latency: { sum: sum!, greatest: greatest!, sketch },
    upstream: { sum: upstreamSum!, greatest: upstreamGreatest!, sketch: upstreamSketch },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Whole microseconds are precise enough for a reader. */
function micros(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}
