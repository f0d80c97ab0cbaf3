import type { z } from 'zod';
import { acceptQuickly, refused } from './accept.ts';
import type { RecordSchema } from './fields.ts';
import { truncated } from './truncated.ts';

/** A message, or messages by field; for a list, one for each element with null for the valid ones. */
export type ErrorNode = string | ErrorTree | readonly (ErrorNode | null)[];

/** Messages by field. Those for the record itself are the list under `@entity`. */
export interface ErrorTree {
  readonly [field: string]: ErrorNode;
}

export interface SchemaViolation {
  readonly fields: ErrorTree;
}

export type Validation<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: SchemaViolation };

export interface ValidateOptions {
  /** The input is a stored record with a change merged in. Kong has another wording for one message then. */
  readonly updating?: boolean;
}

/**
 * Validates a whole record and fills in its defaults. All invalid fields are reported, each with its first error, in
 * Kong's words. The input is not changed.
 */
export function validateRecord<T>(
  schema: RecordSchema<T>,
  input: unknown,
  options: ValidateOptions = {},
): Validation<NonNullable<T>> {
  const accepted = acceptQuickly(schema.value, input);
  if (accepted !== refused) return { ok: true, value: accepted as NonNullable<T> };
  const result = schema.value.safeParse(input);
  if (result.success) return { ok: true, value: result.data };
  return { ok: false, error: { fields: errorTree(result.error.issues, options.updating ?? false) } };
}

/** A violation of one field, for rules that need more than the record. */
export function fieldViolation(field: string, message: string): SchemaViolation {
  return { fields: { [field]: message } };
}

/** A violation of the record as a whole. */
export function entityViolation(message: string): SchemaViolation {
  return { fields: { '@entity': [message] } };
}

type MutableNode = string | { [field: string]: MutableNode } | (MutableNode | null)[];

/** Maximum violations in a response. */
const maxViolations = 100;

function errorTree(issues: readonly z.core.$ZodIssue[], updating: boolean): ErrorTree {
  const root: { [field: string]: MutableNode } = {};
  let left = maxViolations;
  for (const issue of issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys.slice(0, left)) put(root, [...issue.path, key], 'unknown field', false);
      left -= issue.keys.length;
    } else {
      putIssue(root, issue, updating);
      left--;
    }
    if (left < 0) {
      putOnRecord(root, [], `only the first ${maxViolations} violations are listed`);
      break;
    }
  }
  return root;
}

function putIssue(root: { [field: string]: MutableNode }, issue: z.core.$ZodIssue, updating: boolean): void {
  const message = truncated(issue.message);
  if (issue.code === 'invalid_key') {
    put(root, issue.path, truncated(issue.issues[0]?.message ?? 'invalid key'), false);
  } else if (issue.path.length === 0 || (issue.code === 'custom' && issue.params?.['entity'] === true)) {
    putOnRecord(root, issue.path, updating ? whenUpdating(message) : message);
  } else {
    put(root, issue.path, message, issue.code === 'custom' && issue.params?.['override'] === true);
  }
}

function whenUpdating(message: string): string {
  return message.startsWith('at least one of these fields') ? `when updating, ${message}` : message;
}

function put(
  root: { [field: string]: MutableNode },
  path: readonly PropertyKey[],
  message: string,
  override: boolean,
): void {
  const last = path.at(-1);
  if (last === undefined) return;
  const parent = containerAt(root, path.slice(0, -1), typeof last === 'number');
  if (parent === null) return;
  if (override || childOf(parent, last) == null) assign(parent, last, message);
}

function putOnRecord(root: { [field: string]: MutableNode }, path: readonly PropertyKey[], message: string): void {
  const record = containerAt(root, path, false);
  if (record === null) return;
  const list = childOf(record, '@entity');
  if (Array.isArray(list)) list.push(message);
  else assign(record, '@entity', [message]);
}

type Container = { [field: string]: MutableNode } | (MutableNode | null)[];

/** The object or list at the path, created where missing; null when there is already a message for the whole. */
function containerAt(root: Container, path: readonly PropertyKey[], endsInList: boolean): Container | null {
  let node: Container = root;
  for (const [index, key] of path.entries()) {
    let child = childOf(node, key);
    if (typeof child === 'string') return null;
    if (child == null) {
      const next = path[index + 1];
      const isList = next === undefined ? endsInList : typeof next === 'number';
      child = isList ? [] : {};
      assign(node, key, child);
    }
    node = child;
  }
  return node;
}

function childOf(node: Container, key: PropertyKey): MutableNode | null | undefined {
  if (Array.isArray(node)) return node[Number(key)];
  return Object.hasOwn(node, key) ? node[String(key)] : undefined;
}

/** Defines an own property, so that a field named `__proto__` is only a name. */
function assign(node: Container, key: PropertyKey, value: MutableNode): void {
  if (!Array.isArray(node)) {
    Object.defineProperty(node, key, { value, enumerable: true, configurable: true, writable: true });
    return;
  }
  while (node.length < Number(key)) node.push(null);
  node[Number(key)] = value;
}
