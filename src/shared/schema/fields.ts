import { z } from 'zod';
import { type Accept, addConstrained, addPresence, defaultMaker, refused } from './accept.ts';
import { compileAttributes } from './attributes.ts';
import type { EntityCheck } from './entity-checks.ts';
import type { Field, FieldMeta, FieldOptions, FieldType } from './field-meta.ts';

/** The TypeScript type of a field's values after validation. */
export type Infer<F extends { readonly zod: z.ZodType }> = z.infer<F['zod']>;

/** A record: an entity, a plugin's configuration, or a record within one. Created by `record()` of `record.ts`. */
export interface RecordSchema<T = unknown> extends Field<T> {
  /** In Kong's order, which is the order of the output too. */
  readonly fields: ReadonlyMap<string, Field>;
  readonly checks: readonly EntityCheck[];
  /** Names accepted on input that are converted to other fields. */
  readonly shorthands: ReadonlyMap<string, Shorthand>;
}

/**
 * An input-only field that sets others: the `url` of a service, or a deprecated name. It is expanded before anything is
 * validated, and before a PATCH is merged.
 */
export interface Shorthand {
  /** Type of the input; a value of another type is reported under the shorthand's own name. */
  readonly field: Field;
  /** Returns the fields to set. They replace those in the same input. */
  readonly expand?: (value: never) => Readonly<Record<string, unknown>>;
  /**
   * The path, below the record, of the field that replaces this deprecated alias. When both are present, their values
   * must be equal. Responses contain both, as in Kong.
   */
  readonly replacedWith?: readonly string[];
}

/** Required fields are never null; all others may be. */
export type Presence<T, O> = O extends { readonly required: true } ? T : T | null;

type OneOf<T, O> = O extends { readonly one_of: readonly (infer V extends T)[] } ? V : T;

type None = Record<never, never>;

const TYPE_MESSAGES: Readonly<Record<FieldType, string>> = {
  string: 'expected a string',
  integer: 'expected an integer',
  number: 'expected a number',
  boolean: 'expected a boolean',
  array: 'expected an array',
  set: 'expected a set',
  map: 'expected a map',
  record: 'expected a record',
  foreign: 'expected a record',
};

/** Text. At least one character, unless `len_min: 0`. */
export function string<const O extends FieldOptions = None>(options?: O): Field<Presence<OneOf<string, O>, O>> {
  const meta = { ...options, type: 'string', required: options?.required ?? false } as const;
  const base = z.string({ error: typeError('string') }).refine(isStorable, {
    error: 'expected valid utf-8 text without NUL characters',
    abort: true,
  });
  const text = meta.uuid === true ? base.overwrite((value) => value.toLowerCase()) : base;
  const attributes = { len_min: 1, ...meta };
  const value = constrained(text, attributes);
  addConstrained(value, attributes, meta.uuid === true ? readUuid : readText);
  return asField(value, meta) as Field<Presence<OneOf<string, O>, O>>;
}

/** A whole number that is exact in JSON (at most 2^53 - 1 in size). */
export function integer<const O extends FieldOptions = None>(options?: O): Field<Presence<OneOf<number, O>, O>> {
  const meta = { ...options, type: 'integer', required: options?.required ?? false } as const;
  const base = z.number({ error: typeError('integer') }).refine(Number.isSafeInteger, {
    error: TYPE_MESSAGES.integer,
    abort: true,
  });
  const value = constrained(base, meta);
  addConstrained(value, meta, readInteger);
  return asField(value, meta) as Field<Presence<OneOf<number, O>, O>>;
}

export function number<const O extends FieldOptions = None>(options?: O): Field<Presence<number, O>> {
  const meta = { ...options, type: 'number', required: options?.required ?? false } as const;
  const value = constrained(z.number({ error: typeError('number') }), meta);
  addConstrained(value, meta, readNumber);
  return asField(value, meta) as Field<Presence<number, O>>;
}

export function boolean<const O extends FieldOptions = None>(options?: O): Field<Presence<boolean, O>> {
  const meta = { ...options, type: 'boolean', required: options?.required ?? false } as const;
  const value = constrained(z.boolean({ error: typeError('boolean') }), meta);
  addConstrained(value, meta, readBoolean);
  return asField(value, meta) as Field<Presence<boolean, O>>;
}

/** PostgreSQL stores neither NUL nor a lone surrogate. */
function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

const readText: Accept = (input) => (typeof input === 'string' && isStorable(input) ? input : refused);
const readUuid: Accept = (input) => (typeof input === 'string' && isStorable(input) ? input.toLowerCase() : refused);
const readInteger: Accept = (input) => (Number.isSafeInteger(input) ? input : refused);
const readNumber: Accept = (input) => (Number.isFinite(input) ? input : refused);
const readBoolean: Accept = (input) => (typeof input === 'boolean' ? input : refused);

/** Builds the field around the zod type of its non-null values. For the functions that create field types only. */
export function asField(value: z.ZodType, meta: FieldMeta): Field {
  const zod = withPresence(value, meta);
  // A type that is used as it stands has its acceptor already.
  if (zod !== value) addPresence(zod, value, meta);
  return { zod, value: value as z.ZodType<NonNullable<unknown>>, meta };
}

/** The message for a value of the wrong type, or for a missing one. */
export function typeError(type: FieldType): (issue: { readonly input?: unknown }) => string {
  return (issue) => (issue.input == null ? 'required field missing' : TYPE_MESSAGES[type]);
}

/** Adds the constraints as one check, so that only the first failure of a value is reported. */
export function constrained<Z extends z.ZodType>(base: Z, attributes: FieldOptions): Z {
  const firstFailure = compileAttributes(attributes);
  if (firstFailure === null) return base;
  return base.check((payload) => {
    const message = firstFailure(payload.value);
    if (message !== null) payload.issues.push({ code: 'custom', message, input: payload.value, path: [] });
  }) as Z;
}

function withPresence(value: z.ZodType, meta: FieldMeta): z.ZodType {
  if (meta.eq === null) return mustStayUnset(meta.err ?? 'value must be null');
  if (meta.default !== undefined) {
    const fresh = defaultMaker(meta.default);
    if (meta.required) return z.preprocess((input) => input ?? fresh(), value);
    return z.preprocess((input) => (input === undefined ? fresh() : input), value.nullable());
  }
  if (meta.required && !meta.auto) return value;
  return z.preprocess((input) => input ?? null, value.nullable());
}

function mustStayUnset(message: string): z.ZodType {
  return z.preprocess((input) => input ?? null, z.null({ error: message }));
}
