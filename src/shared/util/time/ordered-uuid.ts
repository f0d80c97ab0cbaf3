import { randomInt, randomUUID } from 'node:crypto';

/** Begins at random, so that nodes seldom give the same number in one second. */
let last = randomInt(0x10000);

/**
 * A UUID in the form of version 4, as Kong generates them: 32 bits of time in seconds, 16 bits that count on, and 74 random bits. Rows that
 * are created one after another are neighbours in every index over their ids, so that a transaction changes few pages of it; a random id
 * changes a page for each row. The first 48 bits tell ids of a node apart (`entityMark`).
 */
export function orderedUuid(now: number = Date.now()): string {
  last = (last + 1) & 0xffff;
  const time = Math.floor(now / 1000) % 2 ** 32;
  return `${hex(time, 8)}-${hex(last, 4)}-${randomUUID().slice(14)}`;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}
