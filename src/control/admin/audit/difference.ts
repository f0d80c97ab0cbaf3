type Fields = Readonly<Record<string, unknown>>;

/** The differences of two rows: the same fields of both, recursively for records, lists as a whole. */
export interface Difference {
  readonly before: Fields;
  readonly after: Fields;
}

/** Changes with every write, so it says nothing. */
const ownTimes: ReadonlySet<string> = new Set(['updated_at']);

export function differenceOf(before: Fields, after: Fields): Difference {
  // Without a prototype, so that a field of any name is only a field.
  const left: Record<string, unknown> = Object.create(null);
  const right: Record<string, unknown> = Object.create(null);
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (ownTimes.has(name)) continue;
    const old = before[name] ?? null;
    const fresh = after[name] ?? null;
    if (isFields(old) && isFields(fresh)) {
      const inner = differenceOf(old, fresh);
      if (Object.keys(inner.before).length === 0) continue;
      left[name] = inner.before;
      right[name] = inner.after;
    } else if (!same(old, fresh)) {
      left[name] = old;
      right[name] = fresh;
    }
  }
  return { before: left, after: right };
}

function same(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b));
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Maximum bytes of JSON of `before` and `after` of one record together. */
export const maxDifference = 64 * 1024;

export interface Bounded {
  readonly before: Fields | null;
  readonly after: Fields | null;
  /** Some values were omitted. */
  readonly truncated: boolean;
}

/** Replaces the longest values by a note until the rest is short enough. */
export function bounded(before: Fields | null, after: Fields | null, most: number = maxDifference): Bounded {
  const sides = [before, after].map((side) => (side === null ? null : { ...side }));
  let length = sizeOf(before) + sizeOf(after);
  if (length <= most) return { before, after, truncated: false };
  const values = sides
    .flatMap((side) => Object.keys(side ?? {}).map((name) => ({ side, name, size: sizeOf(side?.[name]) })))
    .sort((a, b) => b.size - a.size);
  for (const { side, name, size } of values) {
    if (length <= most || side === null) break;
    const note = `${size} bytes, left out`;
    side[name] = note;
    length -= size - sizeOf(note);
  }
  return { before: sides[0] ?? null, after: sides[1] ?? null, truncated: true };
}

function sizeOf(value: unknown): number {
  return value === undefined || value === null ? 0 : Buffer.byteLength(JSON.stringify(value));
}
