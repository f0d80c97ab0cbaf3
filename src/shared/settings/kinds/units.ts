const millisecondsByUnit: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  M: 30 * 86_400_000,
  y: 365 * 86_400_000,
};

/**
 * nginx's notation of time: `500ms`, `60s`, `1m`, `1h 30m`. A bare number counts in `bareUnit`. Returns milliseconds,
 * or null when the text is not a time.
 */
export function parseDuration(text: string, bareUnit: 'ms' | 's'): number | null {
  const trimmed = text.trim();
  if (!/^\d+(?:ms|[smhdwMy])?(?:\s*\d+(?:ms|[smhdwMy]))*$/.test(trimmed)) return null;
  let total = 0;
  for (const [, digits, unit] of trimmed.matchAll(/(\d+)(ms|[smhdwMy])?/g)) {
    total += Number(digits) * (millisecondsByUnit[unit ?? bareUnit] ?? 0);
  }
  return Number.isSafeInteger(total) ? total : null;
}

const bytesByUnit: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** nginx's notation of sizes: `8k`, `10m`, `1g`, or bytes. Returns bytes, or null when the text is not a size. */
export function parseSize(text: string): number | null {
  const match = /^(\d+)([kmg]?)$/i.exec(text.trim());
  if (match === null) return null;
  const bytes = Number(match[1]) * (bytesByUnit[(match[2] ?? '').toLowerCase()] ?? 0);
  return Number.isSafeInteger(bytes) ? bytes : null;
}
