import type { CodeObservation } from '../../shared/messages/plugin-code.ts';
import { bucketOf } from '../../shared/usage/latency-sketch.ts';
import { CodeCount, codeCountsRow, otherCodeCounts } from '../../shared/zones/code-counts.ts';
import { failsMore } from '../../shared/zones/code-failures.ts';
import type { Exchange } from '../request/exchange.ts';

/** Bytes of a body: the time for a larger one is that of the client or of the backend. */
const maxTimedBody = 65_536;

interface Observed {
  readonly row: Uint32Array;
  /** Whether it fails more often than the old code. */
  readonly failsMore: () => boolean;
}

/** By the name of the plugin; null: nothing is observed. */
let observed: ReadonlyMap<string, Observed> | null = null;
let returnToOld: () => void = () => {};

/** From now on counts the requests in which these plugins run; null: none. `worse`: called once when a plugin fails more often. */
export function observeCode(observation: CodeObservation | null, worker: number, worse: () => void): void {
  returnToOld = worse;
  if (observation === null) {
    observed = null;
    return;
  }
  const { memory, plugins, returnsFrom } = observation;
  const entries = plugins.map((name, at): [string, Observed] => {
    const row = codeCountsRow(memory, worker, plugins.length, at);
    const old = () =>
      returnsFrom === 'others' ? otherCodeCounts(memory, worker, plugins.length, at) : returnsFrom?.[at];
    return [name, { row, failsMore: () => failsMoreThan(row, old()) }];
  });
  observed = new Map(entries);
}

function failsMoreThan(row: Uint32Array, old: Uint32Array | undefined): boolean {
  return old !== undefined && failsMore(row, old) !== null;
}

/** A plugin threw. */
export function observeFailure(plugin: string): void {
  const found = observed?.get(plugin);
  if (found === undefined) return;
  found.row[CodeCount.failures]!++;
  if (!found.failsMore()) return;
  found.row[CodeCount.returned] = 1;
  const worse = returnToOld;
  returnToOld = () => {};
  worse();
}

/** A request has ended. `now`: monotonic clock. */
export function observeRequest(x: Exchange, now: number): void {
  if (observed === null || x.plan.empty) return;
  for (const { name } of x.plan.all) {
    const found = observed.get(name);
    if (found !== undefined) count(found.row, x, now);
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
