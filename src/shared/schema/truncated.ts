const maxLength = 1000;

/** Truncates a value that an error message quotes, which must not repeat megabytes of the body. */
export function truncated(text: string): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength).toWellFormed()}...`;
}
