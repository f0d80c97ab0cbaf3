/** One range of an `Accept` (RFC 9110 12.5.1). */
interface Range {
  /** `application/json`, or with `*` in the place of names; lower case, without parameters. */
  readonly type: string;
  /** Thousandths. */
  readonly quality: number;
}

/** How well a client likes a type. */
export interface Liking {
  /** Thousandths; 0: not at all. */
  readonly quality: number;
  /** 3: it names the type; 2: all of its kind; 1: any; 0: it does not name it. */
  readonly precision: number;
}

const mostRanges = 100;
const rangeShape = /^[ \t]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+\/[!#$%&'*+\-.^_`|~0-9A-Za-z]+)[ \t]*(;.*)?$/;
const qualityShape = /;[ \t]*[qQ]=([^;, \t]*)/;
const qualityValue = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** What a client accepts: all values of its `Accept` fields, joined by commas. Who says nothing accepts everything. */
export class Accepted {
  readonly #ranges: readonly Range[];
  /** There is no `Accept`. */
  readonly silent: boolean;

  constructor(accept: string) {
    this.silent = accept.trim() === '';
    this.#ranges = accept
      .split(',', mostRanges)
      .map(rangeOf)
      .filter((range) => range !== null);
  }

  /** The range that is the most exact one about the type decides. */
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

/** Null: what cannot be read is as if it were not there. */
function rangeOf(text: string): Range | null {
  const found = rangeShape.exec(text);
  if (found === null) return null;
  const quality = qualityShape.exec(found[2] ?? '')?.[1] ?? '1';
  if (!qualityValue.test(quality)) return null;
  return { type: (found[1] as string).toLowerCase(), quality: Math.round(Number(quality) * 1000) };
}

/** Above zero: the first is liked better. */
export function compareLikings(first: Liking, second: Liking): number {
  return first.quality - second.quality || first.precision - second.precision;
}
