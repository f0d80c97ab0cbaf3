import { compileAttributes } from './attributes.ts';
import type { Attributes, Field } from './field-meta.ts';

/** Constraints on a field's value within a conditional check, and on each element of a list. */
export interface Match extends Attributes {
  readonly required?: boolean;
  readonly elements?: Attributes;
}

/** A rule over several fields of a record. Field names may be dotted paths. */
export type EntityCheck =
  /** When `if_field` matches, `then_field` must match. The message is reported for `then_field`, and for the record. */
  | {
      readonly conditional: {
        readonly if_field: string;
        readonly if_match: Match;
        readonly then_field: string;
        readonly then_match: Match;
        /** Replaces the record's message. */
        readonly then_err?: string;
        /** Code, which `GET /schemas` does not show. Receives the whole record; true: the rule does not apply. */
        readonly unless?: (value: Readonly<Record<string, unknown>>) => boolean;
      };
    }
  /** When `if_field` matches, one of the fields must be set; otherwise, when it matches `else_match`, one of the others. */
  | {
      readonly conditional_at_least_one_of: {
        readonly if_field: string;
        readonly if_match: Match;
        readonly then_at_least_one_of: readonly string[];
        /** `%s` is replaced with the list of fields. */
        readonly then_err?: string;
        readonly else_match?: Match;
        readonly else_then_at_least_one_of?: readonly string[];
        readonly else_then_err?: string;
      };
    }
  | { readonly at_least_one_of: readonly string[] }
  /** Exactly one. */
  | { readonly only_one_of: readonly string[] }
  | { readonly mutually_exclusive: readonly string[] }
  /** All of them, or none. */
  | { readonly mutually_required: readonly string[] }
  | { readonly distinct: readonly string[] }
  /** Code. It runs only when none of its fields has an error of its own. */
  | {
      readonly custom_entity_check: {
        readonly field_sources: readonly string[];
        /**
         * Receives the whole record. Returns the record's message, or messages by field, or null. `parts.1.name` is a field
         * of the second element of a list.
         */
        readonly fn: (value: Readonly<Record<string, unknown>>) => string | Readonly<Record<string, string>> | null;
      };
    };

/** `path` is empty for a message on the record itself. */
export interface CheckFailure {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Runs one check over a record whose `failed` fields have errors of their own already. */
export function runEntityCheck(
  check: EntityCheck,
  value: Readonly<Record<string, unknown>>,
  failed: ReadonlySet<string>,
  fields: ReadonlyMap<string, Field>,
): readonly CheckFailure[] {
  const isSet = setIn(value, failed);
  if ('conditional' in check) return conditional(check.conditional, value, fields);
  if ('conditional_at_least_one_of' in check) {
    return conditionalAtLeastOne(check.conditional_at_least_one_of, value, isSet);
  }
  if ('custom_entity_check' in check) return custom(check.custom_entity_check, value, failed);
  if ('at_least_one_of' in check) {
    const names = check.at_least_one_of;
    return names.some(isSet) ? [] : onRecord(`at least one of these fields must be non-empty: ${quoted(names)}`);
  }
  if ('only_one_of' in check) {
    const names = check.only_one_of;
    const count = names.filter(isSet).length;
    return count === 1 ? [] : onRecord(`exactly one of these fields must be non-empty: ${quoted(names)}`);
  }
  if ('mutually_exclusive' in check) {
    const names = check.mutually_exclusive;
    const count = names.filter(isSet).length;
    return count <= 1 ? [] : onRecord(`only one or none of these fields must be set: ${quoted(names)}`);
  }
  if ('mutually_required' in check) {
    const names = check.mutually_required;
    const count = names.filter(isSet).length;
    return count === 0 || count === names.length
      ? []
      : onRecord(`all or none of these fields must be set: ${quoted(names)}`);
  }
  const names = check.distinct;
  const values = names.filter(isSet).map((name) => valueAt(value, name));
  return new Set(values).size === values.length
    ? []
    : onRecord(`values of these fields must be distinct: ${quoted(names)}`);
}

function conditional(
  rule: Extract<EntityCheck, { conditional: unknown }>['conditional'],
  value: Readonly<Record<string, unknown>>,
  fields: ReadonlyMap<string, Field>,
): readonly CheckFailure[] {
  if (!matches(rule.if_match, valueAt(value, rule.if_field)) || rule.unless?.(value) === true) return [];
  const thenValue = valueAt(value, rule.then_field);
  const message = faultOf(rule.then_match, thenValue, fields.get(rule.then_field)?.meta.err);
  if (message === null) return [];
  const text = rule.then_err ?? `failed conditional validation given value of field '${rule.if_field}'`;
  return [{ path: rule.then_field.split('.'), message }, ...onRecord(text)];
}

function conditionalAtLeastOne(
  rule: Extract<EntityCheck, { conditional_at_least_one_of: unknown }>['conditional_at_least_one_of'],
  value: Readonly<Record<string, unknown>>,
  isSet: IsSet,
): readonly CheckFailure[] {
  const subject = valueAt(value, rule.if_field);
  if (subject == null) return [];
  if (matches(rule.if_match, subject)) return needsOne(rule.then_at_least_one_of, rule.then_err, isSet);
  if (rule.else_match === undefined || !matches(rule.else_match, subject)) return [];
  return needsOne(rule.else_then_at_least_one_of ?? [], rule.else_then_err, isSet);
}

function needsOne(names: readonly string[], text: string | undefined, isSet: IsSet): readonly CheckFailure[] {
  if (names.some(isSet)) return [];
  const list = quoted(names);
  return onRecord(text?.replace('%s', list) ?? `at least one of these fields must be non-empty: ${list}`);
}

function custom(
  rule: Extract<EntityCheck, { custom_entity_check: unknown }>['custom_entity_check'],
  value: Readonly<Record<string, unknown>>,
  failed: ReadonlySet<string>,
): readonly CheckFailure[] {
  if (rule.field_sources.some((name) => failed.has(name.split('.')[0] ?? name))) return [];
  const outcome = rule.fn(value);
  if (outcome === null) return [];
  if (typeof outcome === 'string') return onRecord(outcome);
  return Object.entries(outcome).map(([name, message]) =>
    name === '@entity' ? { path: [], message } : { path: name.split('.').map(positionOrName), message },
  );
}

function positionOrName(step: string): string | number {
  return /^\d+$/.test(step) ? Number(step) : step;
}

function matches(match: Match, value: unknown): boolean {
  return value != null && faultOf(match, value, undefined) === null;
}

function faultOf(match: Match, value: unknown, fieldMessage: string | undefined): string | null {
  if (value == null) {
    if (match.required === true) return 'required field missing';
    return match.eq != null ? `value must be ${match.eq}` : null;
  }
  const message = compiled(match)?.(value) ?? null;
  if (message !== null) return fieldMessage ?? message;
  const { elements } = match;
  if (elements === undefined || !Array.isArray(value)) return null;
  const elementFault = compiled(elements);
  for (const element of value) {
    const fault = elementFault?.(element) ?? null;
    if (fault !== null) return fault;
  }
  return null;
}

const compiledMatches = new WeakMap<Attributes, ReturnType<typeof compileAttributes>>();

function compiled(attributes: Attributes): ReturnType<typeof compileAttributes> {
  let check = compiledMatches.get(attributes);
  if (check === undefined) {
    check = compileAttributes(attributes);
    compiledMatches.set(attributes, check);
  }
  return check;
}

type IsSet = (name: string) => boolean;

/**
 * Null, an empty string, an empty list and an empty map count as not set; a faulty list or map may be empty after
 * validation.
 */
function setIn(record: Readonly<Record<string, unknown>>, failed: ReadonlySet<string>): IsSet {
  return (name) => {
    const value = valueAt(record, name);
    if (value == null || value === '') return false;
    return typeof value !== 'object' || Object.keys(value).length > 0 || failed.has(name);
  };
}

function valueAt(record: Readonly<Record<string, unknown>>, path: string): unknown {
  if (!path.includes('.')) return record[path];
  let value: unknown = record;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

function onRecord(message: string): readonly CheckFailure[] {
  return [{ path: [], message }];
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}
