/** PostgreSQL refuses NUL in text, so no row contains it: a lookup of such a text needs no query. */
export function isStorableText(value: string): boolean {
  return !value.includes('\0');
}
