/** Whether two stored values are the same; missing is null. */
export function isSameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (a == null || b == null) return a == null && b == null;
  if (typeof a !== 'object' || typeof b !== 'object' || Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a)) {
    const other = b as readonly unknown[];
    return a.length === other.length && a.every((value, index) => isSameValue(value, other[index]));
  }
  const left = a as Readonly<Record<string, unknown>>;
  const right = b as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(left)) if (!isSameValue(left[key], own(right, key))) return false;
  for (const key of Object.keys(right)) if (right[key] != null && own(left, key) == null) return false;
  return true;
}

function own(fields: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}

/** A text that is equal for equal values, whatever the order of their keys. */
export function canonicalText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  const fields = value as Readonly<Record<string, unknown>>;
  const members = Object.keys(fields)
    .filter((key) => fields[key] != null)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalText(fields[key])}`);
  return `{${members.join(',')}}`;
}
