import { listElements } from './list-elements.ts';

/** Characters and ranges of an `Accept` that count: a client cannot make it slow. */
const maxLength = 2048;
const maxRanges = 50;

/**
 * Which of these media types a client prefers (RFC 9110 12.5.1); of equal ones the first. Null: it accepts none of them.
 * Without an `Accept`, the first. Answers that depend on it need `Vary: Accept` (`addVary`).
 *
 * @param accept The `Accept` of the request; null: it has none.
 * @param types `type/subtype` in lower case, best first.
 *
 * @example
 * preferredType(request.header('accept'), ['application/json', 'text/html']); // 'text/html' for a browser
 */
export function preferredType<const T extends string>(accept: string | null, types: readonly T[]): T | null {
  if (accept === null) return types[0] ?? null;
  const ranges = listElements(accept.slice(0, maxLength)).slice(0, maxRanges).map(rangeOf);
  let best: T | null = null;
  let bestQuality = 0;
  for (const type of types) {
    const quality = qualityOf(type, ranges);
    if (quality <= bestQuality) continue;
    best = type;
    bestQuality = quality;
  }
  return best;
}

interface Range {
  readonly type: string;
  readonly quality: number;
}

function rangeOf(element: string): Range {
  const semicolon = element.indexOf(';');
  const type = (semicolon < 0 ? element : element.slice(0, semicolon)).trim().toLowerCase();
  const quality = semicolon < 0 ? null : /;\s*q=([01](?:\.[0-9]{0,3})?)(?=\s*(?:;|$))/i.exec(element.slice(semicolon));
  return { type, quality: quality === null ? 1 : Math.min(1, Number(quality[1])) };
}

/** The most specific range decides. */
function qualityOf(type: string, ranges: readonly Range[]): number {
  const top = `${type.slice(0, type.indexOf('/'))}/*`;
  for (const wanted of [type, top, '*/*']) {
    const found = ranges.find((range) => range.type === wanted);
    if (found !== undefined) return found.quality;
  }
  return 0;
}
