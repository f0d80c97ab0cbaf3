/** Slots of a Redis cluster. */
export const slotCount = 16_384;

const table = new Uint16Array(256).map((_, byte) => {
  let value = byte << 8;
  for (let bit = 0; bit < 8; bit++) value = value & 0x8000 ? (value << 1) ^ 0x1021 : value << 1;
  return value;
});

/**
 * The slot of a key: CRC-16 (XMODEM) of the part between the first `{` and the next `}`, or of the whole key if there is
 * no such part. See the Redis cluster specification.
 */
export function keySlot(key: string): number {
  const from = key.indexOf('{');
  const to = from < 0 ? -1 : key.indexOf('}', from + 1);
  let crc = 0;
  for (const byte of Buffer.from(to > from + 1 ? key.slice(from + 1, to) : key)) {
    crc = ((crc << 8) & 0xffff) ^ (table[(crc >> 8) ^ byte] as number);
  }
  return crc % slotCount;
}
