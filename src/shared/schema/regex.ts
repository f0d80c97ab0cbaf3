import { compileRegex } from '../util/linear-regex.ts';

/**
 * Returns what is wrong with a regular expression, or null. The router compiles with the same function, so what is
 * accepted here can be compiled there. Results are cached: a route is validated on each write.
 */
export function regexProblem(text: string): string | null {
  if (text.length > MAX_CACHED_LENGTH) return compileProblem(text);
  const known = outcomes.get(text);
  if (known !== undefined) return known;
  const problem = compileProblem(text);
  if (outcomes.size >= MAX_OUTCOMES) outcomes.clear();
  outcomes.set(text, problem);
  return problem;
}

const MAX_OUTCOMES = 1000;
/** Maximum characters of a cached expression, so that the cache stays below a few megabytes. */
const MAX_CACHED_LENGTH = 2000;
const outcomes = new Map<string, string | null>();

function compileProblem(text: string): string | null {
  try {
    compileRegex(text);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : 'syntax error';
  }
}
