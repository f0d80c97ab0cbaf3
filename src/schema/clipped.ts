const maxLength = 1000;

/** A text as an answer quotes it: an error must not repeat megabytes of the body. */
export function clipped(text: string): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength).toWellFormed()}...`;
}
