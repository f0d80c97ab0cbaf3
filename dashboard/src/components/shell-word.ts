/** A word of any POSIX shell: within single quotes no character has a meaning, except the quote. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
