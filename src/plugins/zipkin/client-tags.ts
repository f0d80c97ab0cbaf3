const maxTags = 32;
const maxName = 128;
const maxValue = 1024;

/** Tags of a client's header: `name=value; other=value`. What is no pair, or beyond the bounds, is left out. */
export function clientTags(lines: readonly string[]): Readonly<Record<string, string>> {
  const tags: Record<string, string> = Object.create(null);
  let count = 0;
  for (const line of lines) {
    for (let start = 0; start < line.length && count < maxTags; ) {
      const semicolon = line.indexOf(';', start);
      const end = semicolon < 0 ? line.length : semicolon;
      const equals = line.indexOf('=', start);
      if (equals > start && equals < end) {
        const name = line.slice(start, equals).trim();
        const value = line.slice(equals + 1, end).trim();
        if (name !== '' && name.length <= maxName && value.length <= maxValue) {
          tags[name] = value;
          count++;
        }
      }
      start = end + 1;
    }
  }
  return tags;
}
