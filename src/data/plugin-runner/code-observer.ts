import type { CodeObservation } from '../../shared/messages/plugin-code.ts';
import { bucketOf } from '../../shared/usage/latency-sketch.ts';
import { CodeCount, codeCountsRow, otherCodeCounts, Returned } from '../../shared/zones/code-counts.ts';
import { failsMore } from '../../shared/zones/code-failures.ts';
import { mostAreSlow } from '../../shared/zones/code-times.ts';
import type { Exchange } from '../request/exchange.ts';

/** Bytes of a body: the time for a larger one is that of the client or of the backend. */
const maxTimedBody = 65_536;

/** Milliseconds that the new code must be slow before the worker returns to the old one, and between two looks. */
const slowFor = 300;
const lookInterval = 50;

interface Observed {
  readonly row: Uint32Array;
  /** The counts of the old code; undefined: this worker does not return to it. */
  readonly old: () => Uint32Array | undefined;
  /** Since when requests are counted, and when their times are compared next; monotonic clock. 0: none was counted. */
  since: number;
  nextLook: number;
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
    return [name, { row, old, since: 0, nextLook: 0 }];
  });
  observed = new Map(entries);
}

/** A plugin threw. */
export function observeFailure(plugin: string): void {
  const found = observed?.get(plugin);
  if (found === undefined) return;
  found.row[CodeCount.failures]!++;
  const old = found.old();
  if (old !== undefined && failsMore(found.row, old) !== null) giveUp(found, Returned.failed);
}

/** The worker returns to the old code at once: each look of the control plane would let more requests fail or wait. */
function giveUp({ row }: Observed, reason: number): void {
  row[CodeCount.returned] = reason;
  const worse = returnToOld;
  returnToOld = () => {};
  worse();
}

/** A request has ended. `now`: monotonic clock. */
export function observeRequest(x: Exchange, now: number): void {
  if (observed === null || x.plan.empty) return;
  for (const { name } of x.plan.all) {
    const found = observed.get(name);
    if (found === undefined) continue;
    count(found.row, x, now);
    if (now >= found.nextLook) compareTimes(found, now);
  }
}

/** Slow code that computes would make the worker refuse requests as overloaded. */
function compareTimes(found: Observed, now: number): void {
  found.nextLook = now + lookInterval;
  if (found.since === 0) found.since = now;
  if (now - found.since < slowFor || found.row[CodeCount.returned] !== 0) return;
  const old = found.old();
  if (old !== undefined && mostAreSlow(found.row, old)) giveUp(found, Returned.slow);
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
