/** PostgreSQL refuses NUL in text, so no row holds it: looking for one is answered without asking. */
export function canBeStored(value: string): boolean {
  return !value.includes('\0');
}
