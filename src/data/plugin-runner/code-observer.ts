import { bucketOf } from '../../shared/usage/latency-sketch.ts';
import { CodeCount, codeCountsRow } from '../../shared/zones/code-counts.ts';
import type { Exchange } from '../request/exchange.ts';
import type { PluginInstance } from './plan.ts';

/** Bytes of a body: the time for a larger one is that of the client or of the backend. */
const maxTimedBody = 65_536;

/** By the name of the plugin; null: nothing is observed. */
let rows: ReadonlyMap<string, Uint32Array> | null = null;

/** From now on counts the requests in which these plugins run; null: none. `memory`: of all workers. */
export function observeCode(
  observation: { readonly memory: SharedArrayBuffer; readonly plugins: readonly string[] } | null,
  worker: number,
): void {
  if (observation === null) rows = null;
  else {
    const { memory, plugins } = observation;
    rows = new Map(plugins.map((name, at) => [name, codeCountsRow(memory, worker, plugins.length, at)]));
  }
}

/** A plugin threw. */
export function observeFailure({ name }: PluginInstance): void {
  const row = rows?.get(name);
  if (row !== undefined) row[CodeCount.failures]!++;
}

/** A request has ended. `now`: monotonic clock. */
export function observeRequest(x: Exchange, now: number): void {
  if (rows === null || x.plan.empty) return;
  for (const { name } of x.plan.all) {
    const row = rows.get(name);
    if (row !== undefined) count(row, x, now);
  }
}

function count(row: Uint32Array, x: Exchange, now: number): void {
  row[CodeCount.requests]!++;
  if (x.status >= 500) row[CodeCount.serverErrors]!++;
  if (x.clientAborted || x.tunnel !== null || x.bytesSent > maxTimedBody || x.bytesReceived > maxTimedBody) return;
  // Without the backend's: it is not the plugin's.
  const waited = x.firstByteMono > 0 && x.upstreamStartedMono > 0 ? x.firstByteMono - x.upstreamStartedMono : 0;
  row[CodeCount.timed]!++;
  row[CodeCount.buckets + bucketOf(now - x.startedMono - waited)]!++;
}
