import { createHash } from 'node:crypto';

/** A UUID derived from a text (RFC 9562, version 8): the same text has the same id in each run. */
export function derivedId(text: string): string {
  const digits = createHash('sha256').update(`sluicegate import ${text}`).digest('hex');
  const variant = (8 + (Number.parseInt(digits[16] as string, 16) & 3)).toString(16);
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    variant + digits.slice(17, 20),
    digits.slice(20, 32),
  ].join('-');
}
