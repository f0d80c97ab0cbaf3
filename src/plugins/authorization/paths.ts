import { normalisePath } from '../../plugin-kit/http/index.ts';
import { compileRegex } from '../../plugin-kit/runtime/index.ts';
import { pathReadings } from './path-readings.ts';

export type PathMatcher = (path: string) => boolean;

/** The problem of an entry of `paths`, or null. */
export function pathProblem(text: string): string | null {
  try {
    pathMatcher(text, false);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : 'invalid path';
  }
}

/**
 * Matches normalised request paths with the entries of `paths`. A rule that denies covers a path when a server could read it as
 * one that the rule names; a rule that allows covers it only when no server could read it as another one.
 */
export function pathsMatcher(entries: readonly string[], denies: boolean): PathMatcher {
  const matchers = entries.map((text) => pathMatcher(text, denies));
  const isNamed = (path: string): boolean => matchers.some((matches) => matches(path));
  return (path) => (denies ? pathReadings(path).some(isNamed) : pathReadings(path).every(isNamed));
}

/** `denies`: also covers paths that some servers read as the same one. Throws an `Error` with the reason. */
function pathMatcher(text: string, denies: boolean): PathMatcher {
  if (text.startsWith('~')) return expression(text.slice(1));
  if (text.startsWith('=')) {
    const exact = normalised(text.slice(1));
    if (!denies) return (path) => path === exact;
    const bare = withoutLastSlash(exact);
    return (path) => withoutLastSlash(path) === bare;
  }
  const prefix = normalised(text);
  if (prefix.endsWith('/')) return (path) => path.startsWith(prefix);
  const ends = denies ? strictEnds : slash;
  return (path) => path.startsWith(prefix) && (path.length === prefix.length || ends.has(path.charAt(prefix.length)));
}

/** Many servers treat `/a/` as `/a`. */
function withoutLastSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

const slash: ReadonlySet<string> = new Set('/');
const strictEnds: ReadonlySet<string> = new Set('/;%');

function expression(source: string): PathMatcher {
  // Alone first: in the group below, an unbalanced parenthesis could be balanced by another one.
  compileRegex(source);
  const pattern = compileRegex(`^(?:${source})`);
  return (path) => pattern.test(path);
}

/** Request paths have one char for each byte. */
function normalised(path: string): string {
  const found = normalisePath(Buffer.from(path, 'utf8').toString('latin1'));
  if (found === null)
    throw new Error(path.startsWith('/') ? `invalid path: '${path}'` : "should start with '/', '=/' or '~'");
  return found;
}
