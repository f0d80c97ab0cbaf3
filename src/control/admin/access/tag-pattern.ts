/** True when one of the tags matches one of the patterns. `*` in a pattern matches any text; case counts. */
export function matchesTags(patterns: readonly string[], tags: readonly string[]): boolean {
  return tags.some((tag) => patterns.some((pattern) => matches(pattern, tag)));
}

/** In time proportional to the product of both lengths at most, whatever the pattern. */
export function matches(pattern: string, text: string): boolean {
  let at = 0;
  let position = 0;
  let star = -1;
  let resume = 0;
  while (position < text.length) {
    if (pattern[at] === '*') {
      star = at++;
      resume = position;
    } else if (pattern[at] === text[position]) {
      at++;
      position++;
    } else if (star >= 0) {
      at = star + 1;
      position = ++resume;
    } else return false;
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}
