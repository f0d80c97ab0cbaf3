const leadingV = /^v(?=\d)/;
const numeric = /^v?\d{1,9}(?:[.-]\d{1,9}){0,7}$/i;
const inPath = /^v\d{1,9}(?:\.\d{1,9}){0,7}$|^\d{4}-\d{2}-\d{2}$/i;

/** The canonical form of a version: the same for `v1`, `V1`, `1`. */
export function versionKey(name: string): string {
  return name.toLowerCase().replace(leadingV, '');
}

export function sameVersion(one: string, other: string): boolean {
  return versionKey(one) === versionKey(other);
}

/** `v2.1` and `2026-01-31` as numbers; null for a name without an order. */
export function numbersOf(name: string): readonly number[] | null {
  return numeric.test(name) ? versionKey(name).split(/[.-]/).map(Number) : null;
}

/** Below 0: the first one is lower. Missing parts count as 0. */
export function compareNumbers(one: readonly number[], other: readonly number[]): number {
  for (let at = 0; at < Math.max(one.length, other.length); at++) {
    const difference = (one[at] ?? 0) - (other[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A segment of a path, or a part of a media type, that can only be a version: `v3`, `v1.2`, `2026-01-31`. */
export function looksLikeVersion(text: string): boolean {
  return inPath.test(text);
}
