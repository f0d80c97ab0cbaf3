/**
 * Counters in shared memory, visible to the control plane and every worker; the values are positions in a worker's row.
 * Totals only grow; gauges (`connectionsActive` and those after it) are current values and fall back to 0 with the
 * worker.
 */
export const Counter = Object.freeze({
  /** Client connections accepted, and those of them that were served and not rejected at a limit. */
  connectionsAccepted: 0,
  connectionsHandled: 1,
  /** Requests begun, malformed ones included. */
  requests: 2,
  /** Requests rejected as malformed before routing. */
  badRequests: 3,
  upstreamOpened: 4,
  /** Requests sent on a pooled connection. */
  upstreamReused: 5,
  upstreamFailed: 6,
  retries: 7,
  /** Access or error log lines dropped because a sink was full or broken. */
  logDropped: 8,
  bytesReceived: 9,
  bytesSent: 10,
  /**
   * Log messages sent to the control plane, and those of them that it has received: the only counter that it writes.
   */
  logPosted: 11,
  logTaken: 12,
  /** Requests rejected because of overload. */
  shed: 13,
  /** Client connections of streams: TCP, TLS or UDP. */
  streamsAccepted: 14,
  /** HTTP/2 connections refused or ended because the budget of their address was used up. */
  http2Refused: 15,
  /** Gauges. */
  connectionsActive: 16,
  /** Client connections with a request in flight. */
  connectionsWriting: 17,
  /** Active connections of streams. */
  streamsActive: 18,
});

export type CounterName = keyof typeof Counter;

const firstGauge = Counter.connectionsActive;
const slotsPerWorker = 32;
/** 256 bytes: whole cache lines, so that a worker's writes never slow down another's. */
const rowBytes = slotsPerWorker * Float64Array.BYTES_PER_ELEMENT;

/** Shared memory for `workers` rows of counters, all 0. */
export function createCounters(workers: number): SharedArrayBuffer {
  return new SharedArrayBuffer(workers * rowBytes);
}

/**
 * The row of one worker. Only that worker writes it, so a plain `row[Counter.requests]!++` is exact and no atomic
 * operation is needed; doubles count exactly to 2^53.
 */
export function workerCounters(memory: SharedArrayBuffer, worker: number): Float64Array {
  return new Float64Array(memory, worker * rowBytes, slotsPerWorker);
}

export function countersRows(memory: SharedArrayBuffer): number {
  return Math.floor(memory.byteLength / rowBytes);
}

/** Sum of one counter over all workers. */
export function sumCounter(memory: SharedArrayBuffer, counter: number): number {
  const all = new Float64Array(memory);
  let sum = 0;
  for (let at = counter; at < all.length; at += rowBytes / Float64Array.BYTES_PER_ELEMENT) sum += all[at] ?? 0;
  return sum;
}

/** A worker has ended: its open connections are closed. Called before its successor starts. */
export function resetGauges(memory: SharedArrayBuffer, worker: number): void {
  workerCounters(memory, worker).fill(0, firstGauge);
}
