import type { BackendAnswer } from '../../plugin-sdk/index.ts';
import type { Plan } from './plan.ts';
import type { Outcome } from './run/outcome.ts';
import type { AggregateConfig } from './schema.ts';

type Pairs = [string, string][];

/** Headers whose values may come from several parts. */
const combinable: ReadonlySet<string> = new Set([
  'cache-tag',
  'link',
  'server-timing',
  'set-cookie',
  'surrogate-key',
  'vary',
]);

/** Adds the configured headers of the parts to the response to the client. */
export function addNamedHeaders(
  headers: Pairs,
  named: NonNullable<AggregateConfig['response_headers']>,
  plan: Plan,
  outcomes: readonly Outcome[],
): void {
  const taken = new Set<string>();
  for (const { part, names } of named) {
    const outcome = outcomes[plan.indexOf.get(part)!]!;
    if (outcome.kind !== 'there' || outcome.answer === null) continue;
    const found: string[] = [];
    for (const name of names) {
      const lower = name.toLowerCase();
      if (taken.has(lower)) continue;
      const values = outcome.answer.headerValues(lower);
      for (const value of values) headers.push([name, value]);
      if (values.length > 0 && !combinable.has(lower)) found.push(lower);
    }
    for (const name of found) taken.add(name);
  }
}

/** What one response allows a shared cache. Ages are in seconds; null: not stated. */
interface Freshness {
  readonly maxAge: number | null;
  readonly sharedMaxAge: number | null;
  readonly flags: ReadonlySet<string>;
}

const flagNames = ['no-store', 'private', 'no-cache', 'must-revalidate', 'proxy-revalidate', 'no-transform'] as const;

/** The strictest `Cache-Control` of the parts (RFC 9111 5.2.2), less the age of each response. */
export function mergedCacheControl(plan: Plan, outcomes: readonly Outcome[]): string {
  const all: Freshness[] = [];
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.kind === 'absent') continue;
    const { method } = plan.parts[index]!.config;
    const answer = outcome.kind === 'there' ? outcome.answer : null;
    if (answer === null || (method !== 'GET' && method !== 'HEAD')) return 'no-store';
    all.push(freshness(answer));
  }
  if (all.some(({ flags }) => flags.has('no-store'))) return 'no-store';
  const parts = flagNames.filter((name) => all.some(({ flags }) => flags.has(name)));
  const ages = all.map(({ maxAge }) => maxAge);
  const known = ages.filter((age) => age !== null);
  if (known.length < all.length || all.length === 0) return [...new Set([...parts, 'no-cache'])].join(', ');
  const shared = all.map(({ sharedMaxAge, maxAge }) => sharedMaxAge ?? maxAge ?? 0);
  const lines: string[] = [...parts, `max-age=${Math.min(...known)}`];
  if (all.some(({ sharedMaxAge }) => sharedMaxAge !== null)) lines.push(`s-maxage=${Math.min(...shared)}`);
  return lines.join(', ');
}

/**
 * Names of the client's headers that the response varies by: those in references, and those passed on that a part names in
 * `Vary`. `*`: by anything.
 */
export function mergedVary(plan: Plan, outcomes: readonly Outcome[]): readonly string[] {
  const names = new Set<string>();
  for (const [index, outcome] of outcomes.entries()) {
    const { pass, references } = plan.parts[index]!;
    for (const { reference } of references) if (reference.from === 'header') names.add(reference.name);
    if (outcome.kind !== 'there') continue;
    // The responses of an `each` are not kept.
    if (outcome.answer === null) for (const name of pass) names.add(name);
    else
      for (const name of listOf(outcome.answer, 'vary')) {
        if (name === '*') return ['*'];
        if (pass.has(name)) names.add(name);
      }
  }
  return [...names];
}

function freshness(answer: BackendAnswer): Freshness {
  const directives = listOf(answer, 'cache-control');
  const age = Number(/^\d{1,10}$/.exec(answer.header('age') ?? '')?.[0] ?? 0);
  const seconds = (name: string): number | null => {
    const found = directives.filter((directive) => directive.startsWith(`${name}=`));
    if (found.length === 0) return null;
    // Of two values the smaller one counts; an unreadable one means stale.
    const values = found.map((directive) => /^[a-z-]+="?(\d{1,10})"?$/.exec(directive)?.[1]);
    return values.includes(undefined) ? 0 : Math.max(0, Math.min(...values.map(Number)) - age);
  };
  const flags = new Set(
    flagNames.filter((name) => directives.some((text) => text === name || text.startsWith(`${name}=`))),
  );
  return { maxAge: seconds('max-age'), sharedMaxAge: seconds('s-maxage'), flags };
}

/** The members of a list header, in lower case. Splitting a quoted list of field names only makes the result stricter. */
function listOf(answer: BackendAnswer, name: string): readonly string[] {
  const values = answer.headerValues(name);
  if (values.length === 0) return [];
  return values
    .join(',')
    .toLowerCase()
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '');
}
