import { z } from 'zod';
import { emptyRecord } from '../util/empty-record.ts';
import { type Accept, acceptorOf, addAcceptor, refused } from './accept.ts';
import { isUuid } from './attributes.ts';
import { type EntityCheck, runEntityCheck } from './entity-checks.ts';
import type { Field, FieldMeta, FieldOptions } from './field-meta.ts';
import { asField, type Infer, type Presence, type RecordSchema, type Shorthand } from './fields.ts';
import { expandShorthands } from './shorthands.ts';

type Shape = Readonly<Record<string, Field>>;
type RecordOf<S extends Shape> = { readonly [K in keyof S]: Infer<S[K]> };
type None = Record<never, never>;

export interface RecordOptions extends Omit<FieldOptions, 'required'> {
  /** True by default: the record is always present, with the defaults of its fields. */
  readonly required?: boolean;
  readonly checks?: readonly EntityCheck[];
  readonly shorthands?: Readonly<Record<string, Shorthand>>;
}

type RecordPresence<S extends Shape, O> = O extends { readonly required: false } ? RecordOf<S> | null : RecordOf<S>;

/** A record of named fields. Unknown names are rejected. */
export function record<const S extends Shape, const O extends RecordOptions = None>(
  shape: S,
  options?: O,
): RecordSchema<RecordPresence<S, O>> {
  const { checks = [], shorthands = {}, ...fieldOptions } = options ?? ({} as RecordOptions);
  const fields = new Map<string, Field>(Object.entries(shape));
  return build(fields, checks, new Map(Object.entries(shorthands)), fieldOptions) as RecordSchema<RecordPresence<S, O>>;
}

/** The same record with some fields replaced or added, and more checks. */
export function extendRecord(
  schema: RecordSchema,
  change: { readonly fields?: Shape; readonly checks?: readonly EntityCheck[] },
): RecordSchema {
  const fields = new Map([...schema.fields, ...Object.entries(change.fields ?? {})]);
  return build(fields, [...schema.checks, ...(change.checks ?? [])], schema.shorthands, schema.meta);
}

/** A reference to another entity, `{ "id": "<uuid>" }` after validation. */
export function foreign<const O extends FieldOptions & { readonly on_delete?: 'cascade' | 'restrict' } = None>(
  reference: string,
  options?: O,
): Field<Presence<{ readonly id: string }, O>> {
  const meta: FieldMeta = { ...options, type: 'foreign', required: options?.required ?? false, reference };
  const key = z.unknown().transform((input, context): { readonly id: string } => {
    const id = isRecord(input) ? input['id'] : undefined;
    if (isUuid(id)) return { id: id.toLowerCase() };
    if (input == null) context.addIssue({ code: 'custom', message: 'required field missing' });
    else if (!isRecord(input)) context.addIssue({ code: 'custom', message: 'expected a record' });
    else {
      const message = id == null ? 'missing primary key' : 'expected a valid UUID';
      context.addIssue({ code: 'custom', message, path: ['id'] });
    }
    return z.NEVER;
  });
  addAcceptor(key, (input) => {
    const id = isRecord(input) ? input['id'] : undefined;
    return isUuid(id) ? { id: id.toLowerCase() } : refused;
  });
  return asField(key, meta) as Field<Presence<{ readonly id: string }, O>>;
}

function build(
  fields: ReadonlyMap<string, Field>,
  checks: readonly EntityCheck[],
  shorthands: ReadonlyMap<string, Shorthand>,
  options: RecordOptions,
): RecordSchema {
  const required = options.required ?? true;
  const meta: FieldMeta = { ...options, type: 'record', required };
  const object = withChecks(objectOf(fields), checks, fields);
  const value = z.preprocess((input, context) => prepare(input, shorthands, context), object);
  addAcceptor(value, recordAcceptor(fields, checks, shorthands));
  // A missing record is still expanded, so that the defaults of its fields appear.
  const presence = required && meta.default === undefined ? { ...meta, default: {} } : meta;
  return { ...asField(value, presence), meta, fields, checks, shorthands } as RecordSchema;
}

function objectOf(fields: ReadonlyMap<string, Field>): z.ZodType {
  const shape: Record<string, z.ZodType> = {};
  for (const [name, field] of fields) shape[name] = field.zod;
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'invalid_type' ? recordTypeError(issue.input) : ''),
  });
}

function recordAcceptor(
  fields: ReadonlyMap<string, Field>,
  checks: readonly EntityCheck[],
  shorthands: ReadonlyMap<string, Shorthand>,
): Accept {
  let parts: readonly (readonly [name: string, accept: Accept])[] | null = null;
  let empty: Record<string, unknown> = {};
  return (input) => {
    if (!isRecord(input)) return refused;
    const { output: given, problems } = expandShorthands(input, shorthands);
    if (problems.length > 0) return refused;
    for (const name in given) if (!fields.has(name)) return refused;
    if (parts === null) {
      parts = [...fields].map(([name, { zod }]) => [name, acceptorOf(zod)]);
      empty = emptyRecord(fields.keys());
    }
    const value = { ...empty };
    for (const [name, accept] of parts) {
      const accepted = accept(given[name]);
      if (accepted === refused || accepted === undefined) return refused;
      value[name] = accepted;
    }
    for (const check of checks) if (runEntityCheck(check, value, noneFailed, fields).length > 0) return refused;
    return value;
  };
}

const noneFailed: ReadonlySet<string> = new Set();

function recordTypeError(input: unknown): string {
  return input == null ? 'required field missing' : 'expected a record';
}

function withChecks(object: z.ZodType, checks: readonly EntityCheck[], fields: ReadonlyMap<string, Field>): z.ZodType {
  let checked = object;
  for (const check of checks) {
    // `when` lets a check run although some field has failed, as in Kong; the check inspects the failed names itself.
    const zodCheck = z.core._check<Record<string, unknown>>(
      (payload) => {
        const failed = failedFields(payload.issues);
        for (const { path, message } of runEntityCheck(check, payload.value, failed, fields)) {
          const params = path.length === 0 ? { entity: true } : { override: true };
          payload.issues.push({ code: 'custom', message, path: [...path], params, input: payload.value });
        }
      },
      { when: (payload) => isRecord(payload.value) },
    );
    checked = checked.check(zodCheck as z.core.$ZodCheck<unknown>);
  }
  return checked;
}

/** Every check of a record needs them, so they are collected once per list of issues. */
function failedFields(issues: readonly { readonly path?: readonly PropertyKey[] | undefined }[]): ReadonlySet<string> {
  const known = gathered.get(issues);
  if (known?.count === issues.length) return known.failed;
  const failed = new Set(issues.map((issue) => String(issue.path?.[0])));
  gathered.set(issues, { count: issues.length, failed });
  return failed;
}

const gathered = new WeakMap<object, { readonly count: number; readonly failed: ReadonlySet<string> }>();

/**
 * An error in a shorthand ends the validation of its record: otherwise its target field would be reported as missing.
 */
function prepare(input: unknown, shorthands: ReadonlyMap<string, Shorthand>, context: z.RefinementCtx): unknown {
  if (Array.isArray(input)) return input.length === 0 ? {} : 'not a record';
  if (!isRecord(input) || shorthands.size === 0) return input;
  const { output, problems } = expandShorthands(input, shorthands);
  for (const { name, message } of problems) context.addIssue({ code: 'custom', message, path: [name] });
  return output;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
