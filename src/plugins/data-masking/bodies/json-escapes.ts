/** The code unit of an escape (`\u00e4`) whose four digits begin at `start`; -1: they are no digits. */
export function escapedUnit(bytes: Uint8Array, start: number): number {
  let unit = 0;
  for (let at = start; at < start + 4; at++) {
    const byte = bytes[at] as number;
    const letter = byte | 0x20;
    if (byte >= 0x30 && byte <= 0x39) unit = (unit << 4) | (byte - 0x30);
    else if (letter >= 0x61 && letter <= 0x66) unit = (unit << 4) | (letter - 0x57);
    else return -1;
  }
  return unit;
}

export function isHighSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}

export function isLowSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00;
}

const backslash = 0x5c;
const shortEscapes: ReadonlyMap<number, number> = new Map(
  ['""', '\\\\', '\bb', '\ff', '\nn', '\rr', '\tt'].map(([unit, letter]) => [unitOf(unit), unitOf(letter)]),
);

function unitOf(character: string | undefined): number {
  return (character ?? '').charCodeAt(0);
}

/** Writes one code unit of a string as `JSON.stringify` does, in UTF-8: six bytes at most. Returns the end of what it wrote. */
export function writeUnit(unit: number, out: Uint8Array, start: number): number {
  let at = start;
  const letter = unit > backslash ? undefined : shortEscapes.get(unit);
  if (letter !== undefined) {
    out[at++] = backslash;
    out[at++] = letter;
  } else if (unit < 0x20 || (unit & 0xf800) === 0xd800) {
    for (const character of `\\u${unit.toString(16).padStart(4, '0')}`) out[at++] = character.charCodeAt(0);
  } else if (unit < 0x80) out[at++] = unit;
  else {
    if (unit < 0x800) out[at++] = 0xc0 | (unit >> 6);
    else {
      out[at++] = 0xe0 | (unit >> 12);
      out[at++] = 0x80 | ((unit >> 6) & 0x3f);
    }
    out[at++] = 0x80 | (unit & 0x3f);
  }
  return at;
}

/** Writes the character of two surrogates in UTF-8: four bytes. Returns the end of what it wrote. */
export function writePair(high: number, low: number, out: Uint8Array, start: number): number {
  const point = 0x10000 + ((high & 0x3ff) << 10) + (low & 0x3ff);
  let at = start;
  out[at++] = 0xf0 | (point >> 18);
  out[at++] = 0x80 | ((point >> 12) & 0x3f);
  out[at++] = 0x80 | ((point >> 6) & 0x3f);
  out[at++] = 0x80 | (point & 0x3f);
  return at;
}
