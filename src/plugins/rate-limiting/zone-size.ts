/** Smallest and largest zone, in bytes. */
const minZone = 32 * 1024;
const maxZone = 2 ** 30;

const units: Readonly<Record<string, number>> = { k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/** Bytes of `512k` or `10m`, or null. */
export function parseSize(text: string): number | null {
  const match = /^([1-9]\d{0,9})([kmg])$/i.exec(text);
  if (match === null) return null;
  const bytes = Number(match[1]) * units[match[2]!.toLowerCase()]!;
  return bytes >= minZone && bytes <= maxZone ? bytes : null;
}
