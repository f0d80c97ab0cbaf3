type Fields = Readonly<Record<string, unknown>>;

/** Differs with every write, so it says nothing. */
const ownTimes: ReadonlySet<string> = new Set(['updated_at']);

/**
 * Paths of the fields in which two rows differ: `config.minute`. Records are compared field by field, lists as a whole; a missing
 * field is null.
 */
export function changedFields(before: Fields, after: Fields): readonly string[] {
  const changed: string[] = [];
  collect(before, after, '', changed);
  return changed;
}

function collect(before: Fields, after: Fields, prefix: string, changed: string[]): void {
  for (const name of Object.keys(before)) {
    if (prefix !== '' || !ownTimes.has(name)) compare(before[name], after[name], `${prefix}${name}`, changed);
  }
  for (const name of Object.keys(after)) {
    if (!Object.hasOwn(before, name) && (prefix !== '' || !ownTimes.has(name))) {
      compare(null, after[name], `${prefix}${name}`, changed);
    }
  }
}

function compare(old: unknown, fresh: unknown, path: string, changed: string[]): void {
  if (isFields(old) && isFields(fresh)) collect(old, fresh, `${path}.`, changed);
  else if (!same(old, fresh)) changed.push(path);
}

function same(a: unknown, b: unknown): boolean {
  if (a === b || (a ?? null) === (b ?? null)) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => same(item, b[i]));
  if (!isFields(a) || !isFields(b)) return false;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  for (const name of names) if (!same(a[name], b[name])) return false;
  return true;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
