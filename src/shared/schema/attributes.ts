import type { Attributes } from './field-meta.ts';
import { regexProblem } from './regex.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const VAULT_REFERENCE = /^\{vault:\/\/.+\}$/s;

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}

/** True for `{vault://...}`, which refers to a secret stored elsewhere. */
export function isVaultReference(value: unknown): boolean {
  return typeof value === 'string' && VAULT_REFERENCE.test(value);
}

type Rule = (value: unknown, attributes: Attributes) => string | null;

/** Kong's order: it decides which message a value with several faults gets. */
const RULES: readonly (readonly [keyof Attributes, Rule])[] = [
  ['eq', (value, { eq }) => (value === eq ? null : `value must be ${print(eq)}`)],
  ['ne', (value, { ne }) => (value !== ne ? null : `value must not be ${print(ne)}`)],
  [
    'not_one_of',
    (value, { not_one_of: list = [] }) =>
      list.includes(value as string) ? `must not be one of: ${list.join(', ')}` : null,
  ],
  [
    'one_of',
    (value, { one_of: list = [] }) => (list.includes(value as string) ? null : `expected one of: ${list.join(', ')}`),
  ],
  ['gt', (value, { gt = 0 }) => ((value as number) > gt ? null : `value must be greater than ${gt}`)],
  ['timestamp', (value) => (isTimestamp(value as number) ? null : 'expected a valid timestamp')],
  ['uuid', (value) => (isUuid(value) ? null : 'expected a valid UUID')],
  ['is_regex', (value) => (regexProblem(value as string) === null ? null : `not a valid regex: ${value}`)],
  ['between', between],
  ['len_eq', (value, { len_eq = 0 }) => (length(value) === len_eq ? null : `length must be ${len_eq}`)],
  ['len_min', (value, { len_min = 0 }) => (length(value) >= len_min ? null : `length must be at least ${len_min}`)],
  ['len_max', (value, { len_max = 0 }) => (length(value) <= len_max ? null : `length must be at most ${len_max}`)],
  [
    'starts_with',
    (value, { starts_with: start = '' }) =>
      typeof value === 'string' && value.startsWith(start) ? null : `should start with: ${start}`,
  ],
  ['not_match', (value, { not_match }) => (not_match?.test(value as string) ? `invalid value: ${value}` : null)],
  [
    'match_none',
    (value, { match_none = [] }) => match_none.find(({ pattern }) => pattern.test(value as string))?.err ?? null,
  ],
  ['match', (value, { match }) => (match?.test(value as string) === false ? `invalid value: ${value}` : null)],
  [
    'contains',
    (value, { contains }) =>
      Array.isArray(value) && value.includes(contains) ? null : `expected to contain: ${contains}`,
  ],
  ['custom', (value, { custom }) => (custom as ((value: unknown) => string | null) | undefined)?.(value) ?? null],
  ['mutually_exclusive_subsets', withinOneSubset],
];

/**
 * Maximum characters of a text that is matched against a format or an expression, unless the field has its own limit.
 */
const MAX_MATCHED_LENGTH = 65_535;
const matching: ReadonlySet<keyof Attributes> = new Set(['custom', 'is_regex', 'match', 'match_none', 'not_match']);

/** A check that evaluates only the constraints in `attributes`; compiled once for each field. */
export function compileAttributes(
  attributes: Attributes & { readonly referenceable?: boolean },
): ((value: unknown) => string | null) | null {
  const rules = RULES.filter(([name]) => isGiven(name, attributes[name]));
  if (rules.length === 0) return null;
  const isMatched = attributes.len_max === undefined && rules.some(([name]) => matching.has(name));
  return function firstFailure(value) {
    if (isMatched && typeof value === 'string' && value.length > MAX_MATCHED_LENGTH) {
      return `length must be at most ${MAX_MATCHED_LENGTH}`;
    }
    if (attributes.referenceable && isVaultReference(value)) return null;
    for (const [, rule] of rules) {
      const failure = rule(value, attributes);
      if (failure !== null) return attributes.err ?? failure;
    }
    return null;
  };
}

/** False turns a constraint off, except for those that compare with it. */
function isGiven(name: keyof Attributes, constraint: unknown): boolean {
  return constraint !== undefined && (constraint !== false || name === 'eq' || name === 'ne' || name === 'contains');
}

/** In seconds; the latest is the last that JavaScript can express. */
function isTimestamp(value: number): boolean {
  return value > 0 && value <= 8_640_000_000_000;
}

function between(value: unknown, { between: limits = [0, 0] }: Attributes): string | null {
  const [low, high] = limits;
  if ((value as number) >= low && (value as number) <= high) return null;
  return `value should be between ${low} and ${high}`;
}

function withinOneSubset(value: unknown, { mutually_exclusive_subsets: subsets = [] }: Attributes): string | null {
  // The condition of an entity check is also evaluated for a value of the wrong type.
  const elements: readonly string[] = Array.isArray(value) ? value : [];
  const touched = subsets.filter((subset) => elements.some((element) => subset.includes(element)));
  if (touched.length <= 1) return null;
  const list = subsets.map((subset) => `(${subset.map((element) => `'${element}'`).join(', ')})`).join(', ');
  return `these sets are mutually exclusive: ${list}`;
}

/** Kong counts bytes of a string, elements of an array or set, keys of a map. */
function length(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (Array.isArray(value)) return value.length;
  return Object.keys(value as object).length;
}

function print(value: unknown): string {
  return value === null ? 'null' : String(value);
}
