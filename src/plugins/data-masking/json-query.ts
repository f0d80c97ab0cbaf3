import { createRequire } from 'node:module';
import type { JSONPathEnvironment, JSONPathQuery } from 'json-p3';
import { compileRegex, type JsonValue } from '../../plugin-sdk/index.ts';

type Library = typeof import('json-p3');
type Expression = InstanceType<Library['jsonpath']['expressions']['FilterExpression']>;

/** What one selector of a segment selects among the children of a value (RFC 9535 2.3). */
export type Selector =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'every' }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'slice'; readonly start: number | null; readonly end: number | null; readonly step: number }
  | { readonly kind: 'filter'; holds(child: JsonValue, root: JsonValue): boolean };

export interface Segment {
  /** It applies to what is anywhere below, too: `..`. */
  readonly deep: boolean;
  readonly selectors: readonly Selector[];
}

export interface JsonQuery {
  readonly segments: readonly Segment[];
  /** It has filters. */
  readonly filters: boolean;
  /** The time that a filter takes may grow with the size of what it looks at. */
  readonly costly: boolean;
}

/**
 * Reads a JSONPath (RFC 9535). Throws an `Error` that says why it cannot be used. The expressions of `match` and `search` must be
 * written out, and take a time that is linear in the text.
 */
export function parseJsonQuery(path: string): JsonQuery {
  const { jsonpath } = library();
  let query: JSONPathQuery;
  try {
    query = environment().compile(path);
  } catch (error) {
    throw new Error(`'${path}' is not a JSONPath: ${(error as Error).message}`);
  }
  const found = { filters: false, costly: false };
  const segments = query.segments.map((segment) => ({
    deep: isDeep(segment),
    selectors: segment.selectors.map((selector) => selectorOf(selector, found, jsonpath)),
  }));
  return { segments, ...found };
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
  // Bodies that are nested deeper are refused before.
  made = new JSONPathEnvironment({ maxRecursionDepth: 10_000 });
  const argTypes = [FunctionExpressionType.ValueType, FunctionExpressionType.ValueType];
  const returnType = FunctionExpressionType.LogicalType;
  const test = (whole: boolean) => (value: unknown, pattern: unknown) =>
    typeof value === 'string' && typeof pattern === 'string' && expression(pattern, whole).test(value);
  made.functionRegister.set('match', { argTypes, returnType, call: test(true) });
  made.functionRegister.set('search', { argTypes, returnType, call: test(false) });
  return made;
}
let made: JSONPathEnvironment | null = null;

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
  if (!(selector instanceof selectors.FilterSelector)) throw new Error('the path has a selector that is not known');
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

/** Looks through an expression; throws for what is not carried out. */
function isCostly(expression: Expression): boolean {
  const { expressions: kinds } = library().jsonpath;
  if (expression instanceof kinds.LogicalExpression) return isCostly(expression.expression);
  if (expression instanceof kinds.PrefixExpression) return isCostly(expression.right);
  if (expression instanceof kinds.InfixExpression) {
    const parts = [isCostly(expression.left), isCostly(expression.right)];
    // Objects and arrays are compared member by member.
    const compares = [expression.left, expression.right].every((side) => side instanceof kinds.FilterQuery);
    return parts.includes(true) || (compares && !expression.logical);
  }
  if (expression instanceof kinds.FunctionExtension) {
    const pattern = expression.args[1];
    if (expression.name === 'match' || expression.name === 'search') {
      if (!(pattern instanceof kinds.StringLiteral))
        throw new Error(`the expression of ${expression.name}() must be written out`);
      compiledPattern(pattern.value, expression.name === 'match');
    }
    return expression.args.map(isCostly).includes(true);
  }
  if (expression instanceof kinds.FilterQuery) {
    checkQuery(expression);
    return false;
  }
  return false;
}

/** A filter is asked for each value: what it looks at must be little. */
function checkQuery(query: InstanceType<Library['jsonpath']['expressions']['FilterQuery']>): void {
  const { expressions: kinds, selectors } = library().jsonpath;
  if (query.path.segments.some(isDeep)) throw new Error('a filter cannot look at all that is below (`..`)');
  if (query instanceof kinds.RootQuery && !query.path.singularQuery()) {
    throw new Error('what a filter compares with from the root (`$`) must be one value');
  }
  for (const segment of query.path.segments) {
    for (const one of segment.selectors) if (one instanceof selectors.FilterSelector) isCostly(one.expression);
  }
}

function compiledPattern(pattern: string, whole: boolean): void {
  try {
    expression(pattern, whole);
  } catch (error) {
    throw new Error(`the expression '${pattern}' cannot be used: ${(error as Error).message}`);
  }
}
