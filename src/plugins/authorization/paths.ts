import { compileRegex, normalisePath } from '../../plugin-sdk/index.ts';

export type PathMatcher = (path: string) => boolean;

/** What is wrong with an entry of `paths`, or null. */
export function pathProblem(text: string): string | null {
  try {
    pathMatcher(text, false);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : 'invalid path';
  }
}

/**
 * Compiles an entry of `paths` for normalised request paths. `strict`, for rules that deny: what some servers take for the
 * same place (`/admin;x`, `/admin%2F`) is covered too. Throws an `Error` that says what is wrong.
 */
export function pathMatcher(text: string, strict: boolean): PathMatcher {
  if (text.startsWith('~')) return expression(text.slice(1));
  if (text.startsWith('=')) {
    const exact = normalised(text.slice(1));
    return (path) => path === exact;
  }
  const prefix = normalised(text);
  if (prefix.endsWith('/')) return (path) => path.startsWith(prefix);
  const ends = strict ? strictEnds : slash;
  return (path) => path.startsWith(prefix) && (path.length === prefix.length || ends.has(path.charAt(prefix.length)));
}

const slash: ReadonlySet<string> = new Set('/');
const strictEnds: ReadonlySet<string> = new Set('/;%');

function expression(source: string): PathMatcher {
  // By itself first: in the group below, an unbalanced parenthesis could find its partner.
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
