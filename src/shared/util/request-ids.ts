import { randomFillSync } from 'node:crypto';

const batch = 512;
const bytes = Buffer.alloc(batch * 16);
let digits = '';
let next = batch;

/** A new random id: 32 lower-case hexadecimal digits. Randomness is generated for many ids at once. */
export function requestId(): string {
  if (next === batch) {
    randomFillSync(bytes);
    digits = bytes.toString('hex');
    next = 0;
  }
  const at = next++ * 32;
  return digits.slice(at, at + 32);
}
