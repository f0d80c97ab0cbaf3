import { schemaViolation } from '../../../shared/schema/errors.ts';
import { kongError } from '../errors.ts';
import type { Method } from '../http/admin-route.ts';

/** One write of the Admin API. */
export interface ProposedWrite {
  readonly method: Method;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What `POST /what-if` asks. */
export type WhatIfRequest = {
  /** Maximum number of recorded requests. */
  readonly requests: number;
} & (
  | { readonly changes: readonly ProposedWrite[]; readonly config: null; readonly version: null }
  | { readonly changes: null; readonly config: string | Readonly<Record<string, unknown>>; readonly version: null }
  /** A rollback to this version. */
  | { readonly changes: null; readonly config: null; readonly version: number }
);

export const maxRequests = 1_000;
export const maxChanges = 500;
const methods: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const known: ReadonlySet<string> = new Set(['changes', 'config', 'version', 'requests']);
const knownOfChange: ReadonlySet<string> = new Set(['method', 'path', 'body']);
const maxPath = 8_192;

type Fields = Readonly<Record<string, unknown>>;

/** Throws a 400 with the fields. */
export function readWhatIf(body: Fields): WhatIfRequest {
  const problems: Record<string, string> = {};
  for (const name of Object.keys(body)) if (!known.has(name)) problems[name] = 'unknown field';
  const { changes = null, config = null, version = null, requests = maxRequests } = body;
  if (!Number.isInteger(requests) || (requests as number) < 1 || (requests as number) > maxRequests) {
    problems['requests'] = `must be an integer between 1 and ${maxRequests}`;
  }
  if ([changes, config, version].filter((one) => one !== null).length !== 1)
    problems['@entity'] = "exactly one of 'changes', 'config' and 'version' is required";
  else if (version !== null) {
    if (!Number.isSafeInteger(version) || (version as number) < 0) problems['version'] = 'must be a version';
  } else if (changes !== null) checkChanges(changes, problems);
  else if (typeof config !== 'string' && !isObject(config)) {
    problems['config'] = 'must be a declarative document, or its text';
  }
  if (Object.keys(problems).length > 0) throw invalid(problems);
  const count = requests as number;
  if (version !== null) return { requests: count, changes: null, config: null, version: version as number };
  if (config !== null) return { requests: count, changes: null, config: config as string | Fields, version: null };
  return { requests: count, changes: (changes as Fields[]).map(writeOf), config: null, version: null };
}

function checkChanges(changes: unknown, problems: Record<string, string>): void {
  if (!Array.isArray(changes) || changes.length === 0 || changes.length > maxChanges) {
    problems['changes'] = `must be a list of 1 to ${maxChanges} writes`;
    return;
  }
  for (const [index, change] of changes.entries()) {
    const problem = changeProblem(change);
    if (problem !== null) problems[`changes.${index}`] = problem;
  }
}

function changeProblem(change: unknown): string | null {
  if (!isObject(change)) return 'must be an object';
  const { method, path, body = null } = change;
  const unknown = Object.keys(change).find((name) => !knownOfChange.has(name));
  if (unknown !== undefined) return `unknown field '${unknown}'`;
  if (typeof method !== 'string' || !methods.has(method)) return 'method must be POST, PUT, PATCH or DELETE';
  if (typeof path !== 'string' || !/^\/[^?#\s]*$/.test(path) || path.length > maxPath) {
    return 'path must be a path of the Admin API, without a query';
  }
  return body === null || isObject(body) ? null : 'body must be an object';
}

function writeOf({ method, path, body }: Fields): ProposedWrite {
  return { method: method as Method, path: path as string, body: (body ?? {}) as Fields };
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(fields: Readonly<Record<string, string>>) {
  return kongError(schemaViolation(fields));
}
