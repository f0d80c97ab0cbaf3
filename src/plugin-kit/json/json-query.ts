import { createRequire } from 'node:module';
import type { FilterFunction, JSONPathEnvironment, JSONPathQuery } from 'json-p3';
import { compileRegex } from '../../shared/util/linear-regex.ts';
import type { JsonValue } from './json.ts';
import { JsonPathError } from './json-path-types.ts';

type Library = typeof import('json-p3');
type Expression = InstanceType<Library['jsonpath']['expressions']['FilterExpression']>;

/** A selector of a segment: selects children of a value (RFC 9535 2.3). */
export type Selector =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'every' }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'slice'; readonly start: number | null; readonly end: number | null; readonly step: number }
  | { readonly kind: 'filter'; holds(child: JsonValue, root: JsonValue): boolean };

export interface Segment {
  /** A descendant segment: `..`. */
  readonly deep: boolean;
  readonly selectors: readonly Selector[];
}

export interface JsonQuery {
  readonly segments: readonly Segment[];
  /** The path has filters. */
  readonly filters: boolean;
  /** The time of a filter may depend on the size of the values that it reads. */
  readonly costly: boolean;
}

/** Bounds the recursion of the library's parser. */
const maxLength = 8192;

/** How many times what a filter looks at may be selected again: `[0,0]` is twice, and twice that is four times. */
const maxRepeats = 16;

/**
 * Reads a JSONPath (RFC 9535). Throws a `JsonPathError` that says why it cannot be used. The expressions of `match` and `search` must be
 * written out, and take a time that is linear in the text.
 */
export function parseJsonQuery(path: string): JsonQuery {
  if (path.length > maxLength) throw new JsonPathError(`a path has ${maxLength} characters at most`);
  let query: JSONPathQuery;
  try {
    query = environment().compile(path);
  } catch (error) {
    throw new JsonPathError(`'${path}' is not a JSONPath: ${reasonOf(error as Error)}`);
  }
  const found = { filters: false, costly: false };
  const segments = segmentsOf(query, found);
  return { segments, ...found };
}

/** How many times the same place may be selected, at most: `[*,0]` is twice. */
export function repeats(segments: readonly Segment[]): number {
  return segments.reduce((product, { selectors }) => product * repeatsIn(selectors), 1);
}

function repeatsIn(selectors: readonly Selector[]): number {
  const same = new Map<string, number>();
  let others = 0;
  for (const selector of selectors) {
    if (selector.kind !== 'name' && selector.kind !== 'index') others++;
    else {
      const key = selector.kind === 'name' ? `.${selector.name}` : `${selector.index}`;
      same.set(key, (same.get(key) ?? 0) + 1);
    }
  }
  // An element has two indexes, one from each end.
  const indexes = selectors.some(({ kind }) => kind === 'index') && selectors.length > 1 ? 1 : 0;
  return Math.max(1, others + Math.max(0, ...same.values()) + indexes);
}

function reasonOf(error: Error): string {
  return error instanceof RangeError ? 'it is nested too deep' : error.message;
}

/** Loaded when the first path is compiled: most gateways have none. */
function library(): Library {
  loaded ??= createRequire(import.meta.url)('json-p3') as Library;
  return loaded;
}
let loaded: Library | null = null;

function environment(): JSONPathEnvironment {
  if (made !== null) return made;
  const { JSONPathEnvironment, FunctionExpressionType } = library();
  // Bodies with deeper nesting are already refused.
  made = new JSONPathEnvironment({ maxRecursionDepth: 10_000 });
  const argTypes = [FunctionExpressionType.ValueType, FunctionExpressionType.ValueType];
  const returnType = FunctionExpressionType.LogicalType;
  const test = (whole: boolean) => (value: unknown, pattern: unknown) =>
    typeof value === 'string' && typeof pattern === 'string' && expression(pattern, whole).test(value);
  made.functionRegister.set('match', { argTypes, returnType, call: test(true) });
  made.functionRegister.set('search', { argTypes, returnType, call: test(false) });
  const length = made.functionRegister.get('length') as FilterFunction;
  // RFC 9535 2.4.4 counts characters; the library counts the halves of those beyond U+FFFF, too.
  made.functionRegister.set('length', {
    argTypes: length.argTypes,
    returnType: length.returnType,
    call: (value: unknown) => (typeof value === 'string' ? charactersIn(value) : length.call(value)),
  });
  return made;
}
let made: JSONPathEnvironment | null = null;

function charactersIn(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Only those that a configuration has written out come here. */
const expressions = new Map<string, RegExp>();

function expression(pattern: string, whole: boolean): RegExp {
  const source = whole ? `^(?:${pattern})$` : pattern;
  let known = expressions.get(source);
  if (known === undefined) {
    known = compileRegex(source);
    if (expressions.size >= 1000) expressions.clear();
    expressions.set(source, known);
  }
  return known;
}

function segmentsOf(query: JSONPathQuery, found: { filters: boolean; costly: boolean }): readonly Segment[] {
  const { jsonpath } = library();
  return query.segments.map((segment) => ({
    deep: isDeep(segment),
    selectors: segment.selectors.map((selector) => selectorOf(selector, found, jsonpath)),
  }));
}

function isDeep(segment: JSONPathQuery['segments'][number]): boolean {
  return segment.toString().startsWith('..');
}

function selectorOf(
  selector: JSONPathQuery['segments'][number]['selectors'][number],
  found: { filters: boolean; costly: boolean },
  { selectors }: Library['jsonpath'],
): Selector {
  if (selector instanceof selectors.NameSelector) return { kind: 'name', name: selector.name };
  if (selector instanceof selectors.WildcardSelector) return { kind: 'every' };
  if (selector instanceof selectors.IndexSelector) return { kind: 'index', index: selector.index };
  if (selector instanceof selectors.SliceSelector) {
    return { kind: 'slice', start: selector.start ?? null, end: selector.stop ?? null, step: selector.step ?? 1 };
  }
  if (!(selector instanceof selectors.FilterSelector))
    throw new JsonPathError('the path has a selector that is not known');
  found.filters = true;
  if (isCostly(selector.expression)) found.costly = true;
  const { expression } = selector;
  const environment = selector.environment;
  return {
    kind: 'filter',
    holds: (currentValue, rootValue) =>
      expression.evaluate({ environment, currentValue: currentValue as never, rootValue: rootValue as never }),
  };
}

/** Checks an expression; throws for unsupported parts. */
function isCostly(expression: Expression): boolean {
  const { expressions: kinds } = library().jsonpath;
  if (expression instanceof kinds.LogicalExpression) return isCostly(expression.expression);
  if (expression instanceof kinds.PrefixExpression) return isCostly(expression.right);
  if (expression instanceof kinds.InfixExpression) {
    const parts = [isCostly(expression.left), isCostly(expression.right)];
    // Objects and arrays are compared member by member.
    const compares = [expression.left, expression.right].every(isValueOfDocument);
    return parts.includes(true) || (compares && !expression.logical);
  }
  if (expression instanceof kinds.FunctionExtension) {
    const pattern = expression.args[1];
    if (expression.name === 'match' || expression.name === 'search') {
      if (!(pattern instanceof kinds.StringLiteral))
        throw new JsonPathError(`the expression of ${expression.name}() must be written out`);
      compiledPattern(pattern.value, expression.name === 'match');
    }
    return expression.args.map(isCostly).includes(true);
  }
  return expression instanceof kinds.FilterQuery && checkQuery(expression);
}

function isValueOfDocument(side: Expression): boolean {
  const { expressions: kinds } = library().jsonpath;
  return side instanceof kinds.FilterQuery || (side instanceof kinds.FunctionExtension && side.name === 'value');
}

/** A filter is asked for each value: what it looks at must be little. Returns whether a filter within it is costly. */
function checkQuery(query: InstanceType<Library['jsonpath']['expressions']['FilterQuery']>): boolean {
  const { expressions: kinds } = library().jsonpath;
  if (query.path.segments.some(isDeep)) throw new JsonPathError('a filter cannot look at all that is below (`..`)');
  if (query instanceof kinds.RootQuery && !query.path.singularQuery()) {
    throw new JsonPathError('what a filter compares with from the root (`$`) must be one value');
  }
  const inner = { filters: false, costly: false };
  const segments = segmentsOf(query.path, inner);
  if (repeats(segments) > maxRepeats) throw new JsonPathError('a filter selects the same values too often');
  return inner.costly;
}

function compiledPattern(pattern: string, whole: boolean): void {
  try {
    expression(pattern, whole);
  } catch (error) {
    throw new JsonPathError(`the expression '${pattern}' cannot be used: ${(error as Error).message}`);
  }
}
