import type { NestedTargets } from './large-text.ts';
import { compilePart, type Part } from './part.ts';
import type { PartConfig } from './request-schema.ts';
import { constantCall } from './run/make-call.ts';
import type { Reference } from './values/reference.ts';

/** The part of the configuration that the plan is compiled from. */
export interface PlanConfig {
  readonly requests: readonly PartConfig[];
  readonly response_headers: readonly { readonly part: string; readonly names: readonly string[] }[] | null;
}

/** All parts and their dependencies. */
export interface Plan {
  readonly parts: readonly Part[];
  /** By part: the indexes of the parts that it depends on, and of those that depend on it. */
  readonly needs: readonly (readonly number[])[];
  readonly dependents: readonly (readonly number[])[];
  readonly indexOf: ReadonlyMap<string, number>;
  /** The order in which parts are placed in the document: a part within another one comes after it. */
  readonly placement: readonly number[];
  /** The response may depend on headers of the client. */
  readonly varies: boolean;
  /** A template names the client's body. */
  readonly readsBody: boolean;
}

/** `config` must be valid. */
export function compilePlan(config: PlanConfig): Plan {
  return compile(config, () => undefined);
}

/** The problems by field (`requests.1.path`); null: the configuration is valid. */
export function planProblems(config: PlanConfig): Readonly<Record<string, string>> | null {
  const problems: Record<string, string> = {};
  const report = (field: string, problem: string): void => {
    problems[field] ??= problem;
  };
  const plan = compile(config, report);
  checkNames(plan, report);
  checkReferences(plan, report);
  checkCycles(plan, report);
  checkResponseHeaders(config, plan, report);
  return Object.keys(problems).length === 0 ? null : problems;
}

type Report = (field: string, problem: string) => void;

function compile(config: PlanConfig, report: Report): Plan {
  const parts = config.requests.map((request, index) =>
    compilePart(request, (field, problem) => report(`requests.${index}.${field}`, problem)),
  );
  const opened = parts.map((part) => ({
    ...part,
    nestedTargets: nestedTargetsOf(part, parts),
    referenced: referencedPathsOf(part, parts),
    constant: constantCall(part),
  }));
  const indexOf = new Map(parts.map(({ name }, index) => [name, index]));
  const needs = parts.map(({ references }) => [
    ...new Set(
      references.flatMap(({ reference }) => (reference.from === 'part' ? (indexOf.get(reference.part) ?? []) : [])),
    ),
  ]);
  const dependents = parts.map((_, index) => parts.flatMap((_, other) => (needs[other]!.includes(index) ? other : [])));
  const depth = (index: number): number => parts[index]!.target.length;
  const placement = [...parts.keys()].sort((a, b) => depth(a) - depth(b) || a - b);
  const readsBody = parts.some(({ references }) => references.some(({ reference }) => reference.from === 'body'));
  const varies = parts.some(
    ({ pass, references }) => pass.size > 0 || references.some(({ reference }) => reference.from === 'header'),
  );
  return { varies, parts: opened, needs, dependents, indexOf, placement, readsBody };
}

/** The members of the value of a part that other parts are placed in. */
function nestedTargetsOf({ target, config }: Part, parts: readonly Part[]): NestedTargets {
  if (config.hidden) return null;
  // A value that is merged into the root has to be split into its members.
  let nestedTargets: Map<string, NestedTargets> | null = target.length === 0 ? new Map() : null;
  for (const other of parts) {
    const within = other.target.length > target.length && target.every((name, at) => other.target[at] === name);
    if (!within || other.config.hidden) continue;
    nestedTargets ??= new Map();
    let level = nestedTargets;
    for (const name of other.target.slice(target.length, -1)) {
      const next = (level.get(name) ?? new Map()) as Map<string, NestedTargets>;
      level.set(name, next);
      level = next;
    }
  }
  return nestedTargets;
}

function referencedPathsOf({ name }: Part, parts: readonly Part[]): readonly string[] {
  const paths = new Set<string>();
  for (const { reference } of parts.flatMap(({ references }) => references)) {
    if (reference.from === 'part' && reference.part === name && reference.of.kind === 'body')
      paths.add(reference.of.text);
  }
  return [...paths];
}

function checkNames({ parts }: Plan, report: Report): void {
  const names = new Set<string>();
  const targets = new Map<string, string>();
  for (const [index, { name, target, config }] of parts.entries()) {
    if (names.has(name)) report(`requests.${index}.name`, `another part is called '${name}'`);
    names.add(name);
    if (config.hidden || target.length === 0) continue;
    const key = JSON.stringify(target);
    const taken = targets.get(key);
    if (taken !== undefined && taken !== name) report(`requests.${index}.target`, `the part '${taken}' lands there`);
    targets.set(key, name);
  }
}

function checkReferences({ parts, indexOf }: Plan, report: Report): void {
  for (const [index, part] of parts.entries()) {
    if (part.config.each_into !== null && part.config.each === null) {
      report(`requests.${index}.each_into`, 'needs each');
    }
    for (const { field, reference } of part.references) {
      const problem = referenceProblem(part, field, reference, parts, indexOf);
      if (problem !== null) report(`requests.${index}.${field}`, `{${reference.text}}: ${problem}`);
    }
  }
}

function referenceProblem(
  part: Part,
  field: string,
  reference: Reference,
  parts: readonly Part[],
  indexOf: ReadonlyMap<string, number>,
): string | null {
  if (reference.from === 'item' || reference.from === 'index') {
    if (part.config.each === null) return 'there is no item without each';
    return field === 'each' || field === 'when' ? 'it is decided before there is an item' : null;
  }
  if (reference.from !== 'part') return null;
  const index = indexOf.get(reference.part);
  if (index === undefined) return `there is no part '${reference.part}'`;
  const many = parts[index]!.config.each !== null;
  return many && reference.of.kind !== 'body' ? `'${reference.part}' has several answers` : null;
}

/** Repeatedly removes the parts that depend on no remaining part: the rest depend on each other. */
function checkCycles({ parts, needs }: Plan, report: Report): void {
  let left = [...parts.keys()];
  for (;;) {
    const waiting = left.filter((index) => needs[index]!.some((needed) => left.includes(needed)));
    if (waiting.length === 0) return;
    if (waiting.length === left.length) break;
    left = waiting;
  }
  // Parts that only depend on a cycle are not part of it.
  for (;;) {
    const needed = left.filter((index) => left.some((other) => needs[other]!.includes(index)));
    if (needed.length === left.length) break;
    left = needed;
  }
  const names = left.map((index) => `'${parts[index]!.name}'`).join(', ');
  for (const index of left) {
    const at = parts[index]!.references.find(
      ({ reference }) => reference.from === 'part' && left.some((other) => parts[other]!.name === reference.part),
    );
    report(`requests.${index}.${at?.field ?? 'name'}`, `these parts wait for each other: ${names}`);
  }
}

const ownHeaders: ReadonlySet<string> = new Set([
  'accept-ranges',
  'age',
  'cache-control',
  'cdn-cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'date',
  'etag',
  'expires',
  'keep-alive',
  'last-modified',
  'pragma',
  'surrogate-control',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-aggregate-complete',
]);

function checkResponseHeaders(config: PlanConfig, { parts, indexOf }: Plan, report: Report): void {
  for (const [at, { part, names }] of (config.response_headers ?? []).entries()) {
    const index = indexOf.get(part);
    if (index === undefined) report(`response_headers.${at}.part`, `there is no part '${part}'`);
    else if (parts[index]!.config.each !== null) report(`response_headers.${at}.part`, `'${part}' has several answers`);
    const own = names.find((name) => ownHeaders.has(name.toLowerCase()));
    if (own !== undefined) report(`response_headers.${at}.names`, `${own} of a part does not hold for the whole`);
  }
}
