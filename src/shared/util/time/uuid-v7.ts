import { randomUUID } from 'node:crypto';

/**
 * A UUID of version 7 (RFC 9562): its text grows with `time` (milliseconds since the epoch), and within one instant
 * with `index` (0 to 4095; above that it starts again).
 */
export function uuidV7(time: number, index: number): string {
  const hex = time.toString(16).padStart(12, '0');
  const place = (index & 0xfff).toString(16).padStart(3, '0');
  // The variant and the random bits that follow have the same place in version 4.
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${place}-${randomUUID().slice(19)}`;
}
