const maxTags = 32;
/** Maximum parts that are parsed to find them. */
const maxRead = 4 * maxTags;
const maxName = 128;
const maxValue = 1024;

/** Tags that only the gateway may set, even when it does not set them: an unauthenticated client must not claim a consumer. */
const ownTags = /^(?:error|lc|peer\.hostname|http\.(?:method|host|path|protocol|status_code)|kong\..*)$/i;

/**
 * Tags of a client's header: `name=value; other=value`. Invalid pairs, pairs beyond the limits, and the gateway's own names are
 * ignored. Cost is bounded for any input.
 */
export function clientTags(lines: readonly string[]): Readonly<Record<string, string>> {
  const tags: Record<string, string> = Object.create(null);
  let count = 0;
  let read = 0;
  for (const line of lines) {
    for (let start = 0; start < line.length && count < maxTags && read < maxRead; read++) {
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
