import { QueryPath } from './json-path-query.ts';
import { translatedPath } from './json-path-spelling.ts';
import { StepsPath, stepsOf } from './json-path-steps.ts';
import { type JsonPath, JsonPathError } from './json-path-types.ts';
import { type JsonQuery, parseJsonQuery, repeats, type Segment } from './json-query.ts';

const maxSegments = 64;
/** Each one visits all descendants. */
const maxDescents = 4;
const maxRepeats = 16;

/**
 * Reads a path of RFC 9535 to something below the root, or one in the old spelling (`items[*].id`, see `rfc9535Path`). Make it once, in
 * `setup`. The work of a method is linear in the size of the value. Throws a `JsonPathError`.
 */
export function compileJsonPath(text: string): JsonPath {
  return compiled(text, rfc9535Path(text));
}

/** The same for what follows the root in RFC 9535, as in a reference: `items[?@.id == 1]`, `.id` (that is `$..id`), `[0]`. */
export function compileJsonPathBelow(rest: string): JsonPath {
  const path = rest.startsWith('[') ? `$${rest}` : `$.${rest}`;
  return compiled(rest, isRfc9535(path) ? path : translatedPath(rest));
}

/**
 * The path in RFC 9535. One that is, is returned unchanged; any other is read in the spelling that configurations had before: `data.id`
 * is `$.data.id`, `$.items.0` is `$.items['0']`. Throws a `JsonPathError`.
 */
export function rfc9535Path(text: string): string {
  if (namesOnly.test(text)) return text;
  if (!text.startsWith('$') || text === '$') return translatedPath(text);
  try {
    parseJsonQuery(text);
    return text;
  } catch (error) {
    return translatedOr(text, error);
  }
}

/** True for a path of RFC 9535 that begins with its root and leads below it, and that can be used here. */
export function isRfc9535(text: string): boolean {
  if (namesOnly.test(text)) return true;
  if (!/^\$[.[]/.test(text)) return false;
  try {
    parseJsonQuery(text);
    return true;
  } catch {
    return false;
  }
}

function translatedOr(text: string, error: unknown): string {
  try {
    return translatedPath(text);
  } catch {
    throw error;
  }
}

/** The form of most paths. It needs no library, which takes 9 ms and 600 KB to load. */
const namesOnly = /^\$(?:\.[A-Za-z_][A-Za-z0-9_]*){1,64}$/;

function compiled(text: string, path: string): JsonPath {
  if (namesOnly.test(path)) return new StepsPath(text, path.slice('$.'.length).split('.'));
  const query = parseJsonQuery(path);
  refuseCost(query);
  const steps = stepsOf(query.segments);
  return steps === null ? new QueryPath(text, query) : new StepsPath(text, steps);
}

function refuseCost({ segments, costly }: JsonQuery): void {
  if (segments.length === 0) throw new JsonPathError('a path must name something');
  if (segments.length > maxSegments) throw new JsonPathError(`a path has ${maxSegments} steps at most`);
  const descents = segments.filter(({ deep }: Segment) => deep).length;
  if (descents > maxDescents) throw new JsonPathError(`a path has ${maxDescents} descents (\`..\`) at most`);
  if (repeats(segments) > maxRepeats) throw new JsonPathError('a path selects the same places too often');
  if (costly && descents > 0) {
    throw new JsonPathError('a path with `..` cannot compare values of the document with each other');
  }
}
