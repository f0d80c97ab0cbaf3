import { capabilityNames } from './capabilities.ts';

import { budgetProblem, type TimeBudget } from './time-budget.ts';

/** What the checks read of a description; it may come from JavaScript. */
interface Description {
  readonly protocols?: unknown;
  readonly config?: unknown;
  readonly needs?: unknown;
}

/** What is wrong with a value, or null. */
type Check = (value: unknown, description: Description) => string | null;

const known: ReadonlySet<string> = new Set([
  ...['grpc', 'grpcs', 'http', 'https', 'tcp', 'tls', 'tls_passthrough', 'udp'],
]);
const capabilities: ReadonlySet<string> = new Set(capabilityNames);
const scopes: ReadonlySet<string> = new Set(['consumer', 'route', 'service']);

/** What a value must be, for every property of a description, in the order in which they are reported. */
const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['name', (name) => (isName(name) ? null : 'must be lower-case letters and digits in parts joined by hyphens')],
  ['version', optional((value) => /^\d+\.\d+\.\d+$/.test(String(value)), 'must be three numbers, as in 1.0.0')],
  ['priority', optional(Number.isSafeInteger, 'must be a whole number')],
  [
    'protocols',
    optional(
      (value) => isListOf(known, value) && value.length > 0,
      `must name at least one protocol of ${[...known].join(', ')}`,
    ),
  ],
  ['defaultProtocols', defaultProtocolProblem],
  ['scopes', optional((value) => isListOf(scopes, value), `must be a list of ${[...scopes].join(', ')}`)],
  [
    'capabilities',
    optional((value) => isListOf(capabilities, value), `must be a list of ${capabilityNames.join(', ')}, or empty`),
  ],
  ['config', optional(isFunction, 'must be a function that returns the fields: ({ string }) => ({ ... })')],
  ['checks', checksProblem],
  ['schema', schemaProblem],
  ['needs', optional((value) => isFunction(value) || isObject(value), 'must be an object or a function')],
  ['timeBudget', timeBudgetProblem],
  ...['zones', 'entities', 'adminRoutes', 'background', 'metrics'].map(
    (name) => [name, optional(isFunction, 'must be a function')] as const,
  ),
  ['setup', (value) => (isFunction(value) ? null : 'must be a function')],
]);

/** Why what `definePlugin` was given cannot work, with the property, or null. */
export function descriptionProblem(description: unknown): string | null {
  if (!isObject(description)) return 'definePlugin needs an object with name and setup';
  const values = new Map<string, unknown>(Object.entries(description));
  const name = values.get('name');
  for (const [property, check] of checks) {
    const problem = check(values.get(property), description);
    if (problem !== null) return `plugin ${isName(name) ? `'${name}'` : String(name)}: ${property} ${problem}`;
  }
  return null;
}

function optional(isValid: (value: unknown) => boolean, problem: string): Check {
  return (value) => (value === undefined || isValid(value) ? null : problem);
}

function defaultProtocolProblem(value: unknown, { protocols }: Description): string | null {
  if (value === undefined) return null;
  if (!isListOf(known, value)) return 'must be a list of protocols';
  const own: unknown = protocols ?? ['grpc', 'grpcs', 'http', 'https'];
  const foreign = value.find((protocol) => !(Array.isArray(own) && own.includes(protocol)));
  return foreign === undefined ? null : `has ${foreign}, which is not one of its protocols`;
}

function checksProblem(value: unknown, { config }: Description): string | null {
  if (value === undefined) return null;
  if (!Array.isArray(value)) return 'must be a list of rules';
  return config === undefined ? 'need config; those of a schema are in its module' : null;
}

function schemaProblem(value: unknown, { config }: Description): string | null {
  if (value === undefined) return null;
  if (config !== undefined) return 'is there next to config: keep one of them';
  return isFunction(value) || isObject(value) ? null : 'must be a function that loads its module: () => import(...)';
}

function timeBudgetProblem(value: unknown, { needs }: Description): string | null {
  if (value === undefined || isFunction(value)) return null;
  return isObject(value)
    ? budgetProblem(value as TimeBudget, isObject(needs) ? needs : {})
    : 'must be an object or a function';
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(value);
}

function isListOf(names: ReadonlySet<string>, value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => names.has(one));
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
