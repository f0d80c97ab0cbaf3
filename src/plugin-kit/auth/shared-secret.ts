import { randomInt } from 'node:crypto';

const words = 8;

/**
 * A random secret of 256 bits that all workers of this node share until the process ends. `memory`: a zone of the kind `raw` that
 * is used for nothing else.
 */
export function sharedSecret(memory: SharedArrayBuffer): string {
  const view = new Int32Array(memory, 0, words);
  for (let at = 0; at < words; at += 1) Atomics.compareExchange(view, at, 0, nonZeroWord());
  const secret = Buffer.alloc(words * 4);
  for (let at = 0; at < words; at += 1) secret.writeInt32LE(Atomics.load(view, at), at * 4);
  return secret.toString('base64');
}

/** Zero means that the word is not set yet. */
function nonZeroWord(): number {
  return randomInt(1, 2 ** 32) | 0;
}
