import { bucketCount } from './latency-sketch.ts';
import { statusClass } from './series-key.ts';

/*
 * What each worker counts of all its finished requests, for the numbers of the last seconds. One row for each worker, which outlives it:
 * bytes from and to clients, requests by the first digit of the status, and by the bucket of the latency. Only the worker writes its row,
 * so adding needs no atomic operation. Counts only grow, modulo 2^32.
 */

const doubles = 2;
/** First digits: 1 to 5. */
export const statusClasses = 5;
const rowWords = Math.ceil((doubles * 2 + statusClasses + bucketCount) / 16) * 16;
const rowBytes = rowWords * Uint32Array.BYTES_PER_ELEMENT;
const statusesAt = doubles * 2;
const bucketsAt = statusesAt + statusClasses;
/** nginx's status for a client that closed the connection before the response. */
const clientClosedRequest = 499;

/** Shared memory with `workers` rows, all 0. */
export function createRequestMeter(workers: number): SharedArrayBuffer {
  return new SharedArrayBuffer(workers * rowBytes);
}

/** The row of one worker, for that worker to write. */
export class RequestMeter {
  readonly #bytes: Float64Array;
  readonly #counts: Uint32Array;

  constructor(memory: SharedArrayBuffer, worker: number) {
    this.#bytes = new Float64Array(memory, worker * rowBytes, doubles);
    this.#counts = new Uint32Array(memory, worker * rowBytes, rowWords);
  }

  /** A request has ended. `status` 0: the client disconnected before the answer. `bucket`: of its latency. */
  add(status: number, bucket: number, bytesIn: number, bytesOut: number): void {
    this.#bytes[0]! += bytesIn;
    this.#bytes[1]! += bytesOut;
    this.#counts[statusesAt + statusClass(status === 0 ? clientClosedRequest : status) - 1]!++;
    this.#counts[bucketsAt + bucket]!++;
  }
}

/** Sums over all workers since the start. */
export interface MeterTotals {
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Requests by the first digit of the status, from 1 on; modulo 2^32. */
  readonly statuses: Uint32Array;
  /** Requests by the bucket of the latency; modulo 2^32. */
  readonly buckets: Uint32Array;
}

export function readMeter(memory: SharedArrayBuffer): MeterTotals {
  const numbers = new Float64Array(memory);
  const counts = new Uint32Array(memory);
  const statuses = new Uint32Array(statusClasses);
  const buckets = new Uint32Array(bucketCount);
  let bytesIn = 0;
  let bytesOut = 0;
  for (let row = 0; row < counts.length; row += rowWords) {
    bytesIn += numbers[row / 2]!;
    bytesOut += numbers[row / 2 + 1]!;
    for (let at = 0; at < statusClasses; at++) statuses[at]! += counts[row + statusesAt + at]!;
    for (let at = 0; at < bucketCount; at++) buckets[at]! += counts[row + bucketsAt + at]!;
  }
  return { bytesIn, bytesOut, statuses, buckets };
}
