import { randomBytes } from 'node:crypto';

/**
 * A UUID of version 7 (RFC 9562): its text grows with `time` (milliseconds since the epoch), and within one instant
 * with `index` (0 to 4095; above that it starts again).
 */
export function uuidV7(time: number, index: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(time, 0, 6);
  bytes.writeUInt16BE(0x7000 | (index & 0xfff), 6);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
