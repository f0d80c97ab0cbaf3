export type Coding = 'zstd' | 'br' | 'gzip';

/** The client's choice. */
export interface Preference {
  /** Null: not compressed. */
  readonly coding: Coding | null;
  /** Only a compressed body is acceptable (`identity;q=0`). */
  readonly mustCode: boolean;
}

const asItIs: Preference = Object.freeze({ coding: null, mustCode: false });
const element = /^[ \t]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)[ \t]*(?:;[ \t]*[qQ]=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[ \t]*)?$/;

/**
 * Reads an `Accept-Encoding` (RFC 9110 12.5.3): of the offered codings the one with the highest weight, and the first of equal ones.
 * `identity` wins if its weight is higher. Malformed elements do not count, and a missing field means no compression.
 * If nothing is acceptable, the body stays uncompressed, which the RFC allows.
 */
export function preferredCoding(field: string | null, offered: readonly Coding[]): Preference {
  if (field === null) return asItIs;
  const weights = weightsOf(field);
  const others = weights.get('*');
  const identity = weights.get('identity') ?? (others === 0 ? 0 : undefined);
  let coding: Coding | null = null;
  let best = 0;
  for (const one of offered) {
    const weight = weights.get(one) ?? others ?? 0;
    if (weight <= best) continue;
    coding = one;
    best = weight;
  }
  if (coding === null || (identity !== undefined && identity > best)) return asItIs;
  return { coding, mustCode: identity === 0 };
}

function weightsOf(field: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const text of field.split(',')) {
    const found = element.exec(text);
    if (found === null) continue;
    const name = (found[1] as string).toLowerCase();
    // An old name of gzip (RFC 9110 8.4.1.3).
    weights.set(name === 'x-gzip' ? 'gzip' : name, found[2] === undefined ? 1 : Number(found[2]));
  }
  return weights;
}
