const maxTags = 32;
/** Pieces that are looked at to find them. */
const mostRead = 4 * maxTags;
const maxName = 128;
const maxValue = 1024;

/** What the gateway alone says of a request, even where it says nothing: who an unknown client is, or that a good answer is none. */
const ownTags = /^(?:error|lc|peer\.hostname|http\.(?:method|host|path|protocol|status_code)|kong\..*)$/i;

/**
 * Tags of a client's header: `name=value; other=value`. What is no pair, beyond the bounds, or named like one of the gateway's is left
 * out. A long line of nothing costs no more than a line of tags.
 */
export function clientTags(lines: readonly string[]): Readonly<Record<string, string>> {
  const tags: Record<string, string> = Object.create(null);
  let count = 0;
  let read = 0;
  for (const line of lines) {
    for (let start = 0; start < line.length && count < maxTags && read < mostRead; read++) {
      const semicolon = line.indexOf(';', start);
      const end = semicolon < 0 ? line.length : semicolon;
      const pair = line.slice(start, end);
      const equals = pair.indexOf('=');
      const name = pair.slice(0, Math.max(0, equals)).trim();
      const value = pair.slice(equals + 1).trim();
      if (name !== '' && name.length <= maxName && value.length <= maxValue && !ownTags.test(name)) {
        tags[name] = value;
        count++;
      }
      start = end + 1;
    }
  }
  return tags;
}
