/** One range of an `Accept` (RFC 9110 12.5.1). */
interface Range {
  /** `application/json`, or with `*` instead of names; lower case, without parameters. */
  readonly type: string;
  /** Thousandths. */
  readonly quality: number;
}

/** The client's preference for a type. */
export interface Liking {
  /** Thousandths; 0: not at all. */
  readonly quality: number;
  /** Specificity. 3: the type itself; 2: `type/*`; 1: any type; 0: no match. */
  readonly precision: number;
}

const maxRanges = 100;
const rangeShape = /^[ \t]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+\/[!#$%&'*+\-.^_`|~0-9A-Za-z]+)[ \t]*(;.*)?$/;
const qualityShape = /;[ \t]*[qQ]=([^;, \t]*)/;
const qualityValue = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** What a client accepts: all values of its `Accept` fields, joined by commas. No field accepts everything. */
export class Accepted {
  readonly #ranges: readonly Range[];
  /** There is no `Accept`. */
  readonly silent: boolean;

  constructor(accept: string) {
    this.silent = accept.trim() === '';
    this.#ranges = accept
      .split(',', maxRanges)
      .map(rangeOf)
      .filter((range) => range !== null);
  }

  /** The most specific matching range decides. */
  liking(type: string): Liking {
    if (this.silent) return { quality: 1000, precision: 0 };
    const kind = `${type.slice(0, type.indexOf('/'))}/*`;
    let best: Liking = { quality: 0, precision: 0 };
    for (const range of this.#ranges) {
      const precision = range.type === type ? 3 : range.type === kind ? 2 : range.type === '*/*' ? 1 : 0;
      if (precision > best.precision) best = { quality: range.quality, precision };
    }
    return best;
  }
}

/** Null: malformed, and ignored. */
function rangeOf(text: string): Range | null {
  const found = rangeShape.exec(text);
  if (found === null) return null;
  const quality = qualityShape.exec(found[2] ?? '')?.[1] ?? '1';
  if (!qualityValue.test(quality)) return null;
  return { type: (found[1] as string).toLowerCase(), quality: Math.round(Number(quality) * 1000) };
}

/** Above zero: the first one is preferred. */
export function compareLikings(first: Liking, second: Liking): number {
  return first.quality - second.quality || first.precision - second.precision;
}
