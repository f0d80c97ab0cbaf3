import { randomBytes } from 'node:crypto';
import { isRecordSchema } from '../schema/export/export.ts';
import { presentRecord } from '../schema/export/present.ts';
import type { Field } from '../schema/field-meta.ts';
import type { RecordSchema } from '../schema/fields.ts';
import { inferFromSchema } from '../schema/form.ts';
import { mergePatch } from '../schema/merge.ts';
import { type SchemaViolation, type Validation, validateRecord } from '../schema/validate.ts';
import { emptyRecord } from '../util/empty-record.ts';
import { orderedUuid } from '../util/time/ordered-uuid.ts';
import type { EntityDefinition, Operation, Row } from './entity.ts';
import { withoutUnknown, withUnknown } from './unknown-fields.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * A row ready to be stored, or what is wrong with the input. `virtual` contains the input for fields that are not
 * stored with the row (`snis` of a certificate); missing ones are absent.
 */
export type RowResult =
  | { readonly ok: true; readonly row: Row; readonly virtual: Fields }
  | { readonly ok: false; readonly error: SchemaViolation };

export interface BuildOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The id for input without one. */
  readonly id?: string;
}

/** POST: builds a row from a body. Generates missing automatic values. */
export function buildRow(definition: EntityDefinition, input: Fields, options: BuildOptions): RowResult {
  return finish(definition, complete(definition, input, input, 'create'), input, options);
}

/**
 * PUT: builds the row that replaces `options.before` or creates the one of `options.id`. Omitted fields are reset to
 * their defaults; generated values are kept, so that a client that rewrites its whole configuration changes no secret.
 */
export function applyPut(
  definition: EntityDefinition,
  input: Fields,
  options: BuildOptions & { readonly id: string; readonly before: Row | null },
): RowResult {
  const { before, id } = options;
  const body = { ...input, id };
  const result = finish(definition, complete(definition, body, body, 'replace'), body, options, before ?? {});
  if (!result.ok || before === null) return result;
  return { ...result, row: keepUnknown(definition, before, result.row) };
}

/** PATCH: applies a body to a stored row. The id stays. */
export function applyPatch(
  definition: EntityDefinition,
  stored: Row,
  patch: Fields,
  options: { readonly now: number },
): RowResult {
  const { created_at: createdAt, updated_at: _old, expires_at: expiresAt, ...rest } = stored;
  const change = { ...patch, id: stored.id };
  const schema = schemaOf(definition, { ...stored, ...patch }, 'update');
  const merged = mergePatch(schema, withoutUnknown(schema, rest), change);
  const result = finish(definition, complete(definition, merged, change, 'update'), change, options);
  if (!result.ok) return result;
  const kept: Record<string, unknown> = {};
  if (patch['created_at'] == null) kept['created_at'] = createdAt;
  if (definition.expires && patch['ttl'] === undefined) kept['expires_at'] = expiresAt ?? null;
  return { ...result, row: { ...keepUnknown(definition, stored, result.row), ...kept } };
}

/** Adds the fields of the stored row that only another version knows, except those of a plugin that is no longer the same. */
function keepUnknown(definition: EntityDefinition, before: Row, row: Row): Row {
  const stored = Object.hasOwn(before, 'expires_at') ? withoutExpiry(before) : before;
  const schema = stored['name'] === row['name'] ? schemaOf(definition, row) : definition.schema;
  return withUnknown(schema, stored, withoutUnknown(schema, stored), row) as Row;
}

function withoutExpiry({ expires_at: _, ...fields }: Row): Fields {
  return fields;
}

/** Validates a body against the schema alone, as `POST /schemas/{entity}/validate` does. */
export function validateInput(definition: EntityDefinition, input: Fields): Validation<Fields> {
  return complete(definition, input, input, 'validate');
}

/**
 * Converts the strings of a form body to their types. `stored` is the row that a PATCH is for: it may decide the
 * schema.
 */
export function inferInput(definition: EntityDefinition, input: Fields, stored?: Row): Record<string, unknown> {
  const schema = schemaOf(definition, stored === undefined ? input : { ...stored, ...input }, 'validate');
  return inferFromSchema(schema, input) as Record<string, unknown>;
}

/** The schema for a row, or for a body that may lack fields. */
export function schemaOf(definition: EntityDefinition, value: Fields, operation: Operation = 'validate'): RecordSchema {
  return definition.schemaFor?.(value, operation) ?? definition.schema;
}

/**
 * The row as the Admin API returns it: every declared field, unset ones as null, timestamps in seconds. `virtual` has
 * the fields that are not stored with the row. `now`: the start of `ttl`, in milliseconds.
 */
export function presentRow(
  definition: EntityDefinition,
  row: Row,
  virtual: Fields = {},
  now: number = Date.now(),
): Record<string, unknown> {
  const schema = schemaOf(definition, row);
  const output: Record<string, unknown> = {};
  for (const [name, field] of definition.schema.fields) {
    const value = row[name] ?? null;
    if (name === 'ttl' && definition.expires) output[name] = secondsLeft(row['expires_at'], now);
    else if (field.meta.virtual === true) output[name] = virtual[name] ?? [];
    else if (field.meta.timestamp === true) output[name] = toSeconds(definition, value);
    else {
      const own = schema.fields.get(name);
      output[name] = own !== undefined && isRecordSchema(own) ? presentRecord(own, value) : value;
    }
  }
  return output;
}

function complete(
  definition: EntityDefinition,
  value: Fields,
  change: Fields,
  operation: Operation,
): Validation<Fields> {
  const prepared = definition.prepare?.(value, { operation, change }) ?? value;
  const schema = schemaOf(definition, prepared, operation);
  const result = validateRecord(schema, prepared, { updating: operation === 'update' }) as Validation<Fields>;
  const nulls = operation === 'update' ? [] : refusedNulls(schema, change);
  if (nulls.length > 0) {
    const missing = Object.fromEntries(nulls.map((name) => [name, 'required field missing']));
    return { ok: false, error: { fields: { ...(result.ok ? {} : result.error.fields), ...missing } } };
  }
  if (!result.ok || definition.derive === undefined) return result;
  return { ok: true, value: definition.derive(result.value) };
}

function refusedNulls(schema: RecordSchema, input: Fields): readonly string[] {
  let refused: string[] | null = null;
  for (const [name, { meta }] of schema.fields) {
    if (meta.refuses_null !== true || input[name] !== null) continue;
    refused ??= [];
    refused.push(name);
  }
  return refused ?? none;
}

const none: readonly string[] = [];

function finish(
  definition: EntityDefinition,
  result: Validation<Fields>,
  input: Fields,
  { now, id }: BuildOptions,
  before: Fields = {},
): RowResult {
  if (!result.ok) return result;
  const fields: Record<string, unknown> = { ...emptyRow(definition) };
  const virtual: Record<string, unknown> = {};
  for (const [name, { meta }] of definition.schema.fields) {
    const value = result.value[name] ?? null;
    if (name === 'ttl' && definition.expires) fields['expires_at'] = expiry(value, now);
    else if (meta.virtual === true) {
      if (Object.hasOwn(input, name)) virtual[name] = value;
    } else if (meta.timestamp === true) fields[name] = name === 'updated_at' ? now : toMilliseconds(value, now);
    else if (meta.auto === true && value === null) {
      fields[name] = name === 'id' ? (id ?? orderedUuid(now)) : (before[name] ?? randomSecret());
    } else fields[name] = value;
  }
  const schema = schemaOf(definition, result.value);
  // Another plugin with the same id has other secrets.
  const kept = before['name'] === fields['name'] ? before : {};
  for (const [name, field] of schema.fields) {
    if (isRecordSchema(field) && Object.hasOwn(fields, name)) {
      fields[name] = withGenerated(field, fields[name], kept[name]);
    }
  }
  return { ok: true, row: fields as Row, virtual };
}

/** The fields of a row, all null. */
function emptyRow(definition: EntityDefinition): Fields {
  let row = emptyRows.get(definition);
  if (row === undefined) {
    const stored = [...definition.schema.fields].filter(([, { meta }]) => meta.virtual !== true);
    row = emptyRecord(stored.map(([name]) => (name === 'ttl' && definition.expires ? 'expires_at' : name)));
    emptyRows.set(definition, row);
  }
  return row;
}

const emptyRows = new WeakMap<EntityDefinition, Fields>();

/** Generates missing automatic values within a record, such as a plugin's secret, unless `kept` has them. */
function withGenerated(field: Field, value: unknown, kept: unknown): unknown {
  if (!isRecordSchema(field) || typeof value !== 'object' || value === null) return value;
  let output: Record<string, unknown> | null = null;
  for (const [name, inner] of field.fields) {
    const before = (value as Fields)[name];
    const old = isFields(kept) ? kept[name] : undefined;
    const after =
      inner.meta.auto === true && before === null ? (old ?? randomSecret()) : withGenerated(inner, before, old);
    if (after === before) continue;
    output ??= { ...value };
    output[name] = after;
  }
  return output ?? value;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** 0 seconds mean "never". */
function expiry(seconds: unknown, now: number): number | null {
  return typeof seconds === 'number' && seconds > 0 ? now + seconds * 1000 : null;
}

/** Rounded down, as Kong does. */
function secondsLeft(expiresAt: unknown, now: number): number | null {
  return typeof expiresAt === 'number' ? Math.max(0, Math.floor((expiresAt - now) / 1000)) : null;
}

function toMilliseconds(seconds: unknown, now: number): number {
  return typeof seconds === 'number' ? Math.round(seconds * 1000) : now;
}

/** A stored time as the Admin API returns it. */
export function toSeconds(definition: EntityDefinition, milliseconds: unknown): number | null {
  if (typeof milliseconds !== 'number') return null;
  return definition.timestamps === 'fraction' ? milliseconds / 1000 : Math.floor(milliseconds / 1000);
}

const SECRET_LENGTH = 32;
const SECRET_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** 32 letters and digits, evenly distributed: bytes above the last whole multiple of the alphabet are discarded. */
function randomSecret(): string {
  const limit = 256 - (256 % SECRET_ALPHABET.length);
  let secret = '';
  while (secret.length < SECRET_LENGTH) {
    for (const byte of randomBytes(SECRET_LENGTH)) {
      if (byte < limit && secret.length < SECRET_LENGTH) secret += SECRET_ALPHABET[byte % SECRET_ALPHABET.length];
    }
  }
  return secret;
}
