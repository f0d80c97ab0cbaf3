import { randomFillSync } from 'node:crypto';

const batch = 1024;
const bytes = Buffer.alloc(batch * 8);
let digits = '';
let next = batch;

/** A new random span id: 16 lower-case hexadecimal digits. Random bytes are generated for many ids at once. */
export function newSpanId(): string {
  if (next === batch) refill();
  const at = next++ * 16;
  return digits.slice(at, at + 16);
}

/** A new random trace id: 32 digits; the first half are zeros if it is `short`. */
export function newTraceId(short = false): string {
  if (short) return `0000000000000000${newSpanId()}`;
  if (next >= batch - 1) refill();
  const at = next * 16;
  next += 2;
  return digits.slice(at, at + 32);
}

function refill(): void {
  randomFillSync(bytes);
  digits = bytes.toString('hex');
  next = 0;
}
