import { bucketCount, sketchOf } from './latency-sketch.ts';
import type { Usage } from './usage.ts';

/*
 * What a worker counts, in memory that outlives it. Two halves: the worker adds to one while the control plane reads and clears the
 * other. Only the worker writes to its half, so adding needs no atomic operation. It begins with zeros, which are empty halves.
 *
 *   half     header, blocks
 *   header   64 bytes: blocks in use, requests that found no block
 *   block    one series of one minute: 192 bytes of its key (length, text), 8 doubles, two sketches of 32-bit counts
 */

const headerBytes = 64;
const keyBytes = 192;
const keyTextAt = 4;
/** Maximum bytes of the text of a key. */
export const maxKeyBytes = keyBytes - keyTextAt;
const numbersAt = keyBytes;
const sketchAt = numbersAt + 64;
const blockBytes = Math.ceil((sketchAt + 2 * bucketCount * 4) / 64) * 64;

/** Positions of the doubles of a block. */
const Field = Object.freeze({
  minute: 0,
  requests: 1,
  bytesIn: 2,
  bytesOut: 3,
  sum: 4,
  greatest: 5,
  upstreamSum: 6,
  upstreamGreatest: 7,
});

const Header = Object.freeze({ used: 0, lost: 1 });

/** Blocks above the limit, for requests without a series: five statuses of some minutes. */
export const spareBlocks = 20;

/** Memory of one worker for so many series in each half. Unused pages occupy no physical memory. */
export function createUsageMemory(series: number): SharedArrayBuffer {
  return new SharedArrayBuffer(2 * halfBytes(series));
}

function halfBytes(series: number): number {
  return headerBytes + (series + spareBlocks) * blockBytes;
}

/** Number of series in a half, without the spare blocks. */
export function seriesIn(memory: SharedArrayBuffer): number {
  return Math.floor((memory.byteLength / 2 - headerBytes) / blockBytes) - spareBlocks;
}

/** One half, as its writer or its reader sees it. */
export class UsageHalf {
  readonly #header: Int32Array;
  readonly #bytes: Buffer;
  readonly #words: Int32Array;
  /** Doubles and 32-bit counts of all blocks. */
  readonly #numbers: Float64Array;
  readonly #counts: Uint32Array;
  readonly #blocks: number;

  constructor(memory: SharedArrayBuffer, half: number) {
    const size = memory.byteLength / 2;
    const start = half * size;
    this.#header = new Int32Array(memory, start, headerBytes / 4);
    const first = start + headerBytes;
    const length = size - headerBytes;
    this.#bytes = Buffer.from(memory, first, length);
    this.#words = new Int32Array(memory, first, length / 4);
    this.#numbers = new Float64Array(memory, first, length / 8);
    this.#counts = new Uint32Array(memory, first, length / 4);
    this.#blocks = Math.floor(length / blockBytes);
  }

  get used(): number {
    return this.#header[Header.used]!;
  }

  /** Requests without a block. */
  get lost(): number {
    return this.#header[Header.lost]!;
  }

  lose(): void {
    this.#header[Header.lost]!++;
  }

  /** Allocates a block for a series; -1: none is left, or the text is too long. */
  take(minute: number, key: string): number {
    const block = this.used;
    const size = Buffer.byteLength(key);
    if (block >= this.#blocks || size > maxKeyBytes) return -1;
    const at = block * blockBytes;
    this.#bytes.write(key, at + keyTextAt, 'utf8');
    this.#words[at / 4] = size;
    this.#numbers[(at + numbersAt) / 8 + Field.minute] = minute;
    // Last: a worker that ends before has allocated nothing.
    this.#header[Header.used] = block + 1;
    return block;
  }

  /** `bucket`s are those of the latencies; `upstream` is negative when no backend was contacted. */
  add(
    block: number,
    bytesIn: number,
    bytesOut: number,
    latency: number,
    bucket: number,
    upstream: number,
    upstreamBucket: number,
  ): void {
    const at = block * blockBytes;
    const numbers = this.#numbers;
    const counts = this.#counts;
    const first = (at + numbersAt) >> 3;
    const sketch = (at + sketchAt) >> 2;
    numbers[first + Field.requests]!++;
    numbers[first + Field.bytesIn]! += bytesIn;
    numbers[first + Field.bytesOut]! += bytesOut;
    numbers[first + Field.sum]! += latency;
    if (latency > numbers[first + Field.greatest]!) numbers[first + Field.greatest] = latency;
    counts[sketch + bucket]!++;
    if (upstream < 0) return;
    numbers[first + Field.upstreamSum]! += upstream;
    if (upstream > numbers[first + Field.upstreamGreatest]!) numbers[first + Field.upstreamGreatest] = upstream;
    counts[sketch + bucketCount + upstreamBucket]!++;
  }

  key(block: number): string {
    const at = block * blockBytes;
    const length = Math.min(maxKeyBytes, Math.max(0, this.#words[at / 4]!));
    return this.#bytes.toString('utf8', at + keyTextAt, at + keyTextAt + length);
  }

  /** Milliseconds since the epoch at which the minute of a block began. */
  minute(block: number): number {
    return this.#numbers[(block * blockBytes + numbersAt) / 8 + Field.minute]!;
  }

  usage(block: number): Usage {
    const at = block * blockBytes;
    const first = (at + numbersAt) / 8;
    const sketch = (at + sketchAt) / 4;
    const number = (field: number): number => this.#numbers[first + field]!;
    return {
      requests: number(Field.requests),
      bytesIn: number(Field.bytesIn),
      bytesOut: number(Field.bytesOut),
      latency: {
        sum: number(Field.sum),
        greatest: number(Field.greatest),
        sketch: sketchOf(this.#counts, sketch),
      },
      upstream: {
        sum: number(Field.upstreamSum),
        greatest: number(Field.upstreamGreatest),
        sketch: sketchOf(this.#counts, sketch + bucketCount),
      },
    };
  }

  /** Only while nothing writes. */
  clear(): void {
    this.#bytes.fill(0, 0, this.used * blockBytes);
    this.#header.fill(0);
  }
}
