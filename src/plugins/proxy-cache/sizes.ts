const units: Readonly<Record<string, number>> = { k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/** Bytes of `512k`, `64m` or `1g`; null for anything else. */
export function parseSize(text: string): number | null {
  const match = /^([1-9]\d{0,9})([kmg])$/i.exec(text);
  return match === null ? null : Number(match[1]) * (units[(match[2] as string).toLowerCase()] as number);
}
