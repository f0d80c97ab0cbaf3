type Fields = Readonly<Record<string, unknown>>;

/**
 * A warning about an accepted write that may not do what the client intended, or null. `entity` is the stored row, `input` the
 * body of the client. Kong accepts such writes too, so they are not refused.
 */
export function writeHint(kind: string | undefined, input: Fields, entity: unknown): string | null {
  if (kind === 'services') return ignoredBesideUrl(input);
  if (kind === 'routes') return literalExpression(entity);
  return null;
}

function ignoredBesideUrl(input: Fields): string | null {
  if (typeof input['url'] !== 'string') return null;
  const ignored = ['protocol', 'host', 'port', 'path'].filter((name) => input[name] != null);
  return ignored.length === 0 ? null : `url sets protocol, host, port and path: ignored ${ignored.join(', ')}`;
}

/**
 * Escapes, groups with a quantifier or an alternative, classes, `.*` and anchors. A lone bracket or dot also occurs in plain paths.
 * Every repetition ends where the next one could begin: a path has up to 64 kB, and each match takes linear time.
 */
const looksLikeExpression = /\\[dwsbDWSB.]|\.[*+]|\(\?|\([^()|]*\|[^()]*\)|\)[*+?]|\][*+?]|\$$|^\/?\^|\{\d+(?:,\d*)?\}/;

function literalExpression(entity: unknown): string | null {
  const paths: unknown = typeof entity === 'object' && entity !== null && 'paths' in entity ? entity.paths : null;
  if (!Array.isArray(paths)) return null;
  const path = paths.find((text) => typeof text === 'string' && text.startsWith('/') && looksLikeExpression.test(text));
  if (path === undefined) return null;
  return `the path ${path.slice(0, 200)} is matched as plain text; a regular expression begins with ~: ~${path.slice(0, 200)}`;
}
