import { byBytes, printTable } from './export/table-print.ts';
import { truncated } from './truncated.ts';
import type { ErrorTree } from './validate.ts';
import { violationMessage } from './violation-message.ts';

/** The body of an Admin API error with a code. */
export interface KongErrorBody {
  readonly code: number;
  readonly name: string;
  readonly message: string;
  readonly fields?: Readonly<Record<string, unknown>>;
  /** Replaces `fields` with code 11. */
  readonly options?: Readonly<Record<string, unknown>>;
}

/** An error response, ready to be sent. */
export interface KongError {
  readonly status: number;
  readonly body: KongErrorBody;
}

/** An error response with only a message. */
export interface PlainError {
  readonly status: number;
  readonly body: { readonly message: string };
}

type Values = Readonly<Record<string, unknown>>;

/** Code 1. `fields` says what is wrong: `{ id: 'expected a valid UUID' }`. */
export function invalidPrimaryKey(fields: Values): KongError {
  return failure(400, 1, 'invalid primary key', `invalid primary key: '${printTable(fields)}'`, { fields });
}

/** Code 2. */
export function schemaViolation(fields: ErrorTree): KongError {
  return failure(400, 2, 'schema violation', violationMessage(fields), { fields });
}

/** Code 3: an entity with that id exists. */
export function primaryKeyViolation(key: Values): KongError {
  const message = `primary key violation on key '${printTable(key)}'`;
  return failure(400, 3, 'primary key violation', message, { fields: key });
}

/** Code 4: `field` refers to an `entity` that does not exist. */
export function foreignKeyMissing(field: string, entity: string, key: Values): KongError {
  const message = `the foreign key '${printTable(key)}' does not reference an existing '${entity}' entity.`;
  return failure(400, 4, 'foreign key violation', message, { fields: { [field]: key } });
}

/** Code 4: a `parent` cannot be deleted because a `child` refers to it. */
export function stillReferenced(parent: string, child: string): KongError {
  const message = `an existing '${child}' entity references this '${parent}' entity`;
  return failure(400, 4, 'foreign key violation', message, { fields: { '@referenced_by': child } });
}

/** Code 5. */
export function uniqueViolation(fields: Values): KongError {
  const message = `UNIQUE violation detected on '${printTable(fields)}'`;
  return failure(409, 5, 'unique constraint violation', message, { fields });
}

/** Code 6, looked up by id: `{ id: '...' }`. */
export function notFoundByKey(key: Values): KongError {
  const fields = truncatedValues(key);
  return failure(404, 6, 'not found', `could not find the entity with primary key '${printTable(fields)}'`, { fields });
}

/** Code 6, looked up by a unique field: `{ name: '...' }`. */
export function notFoundByField(filter: Values): KongError {
  const fields = truncatedValues(filter);
  return failure(404, 6, 'not found', `could not find the entity with '${printTable(fields)}'`, { fields });
}

/** Code 7. `reason` is `bad base64 encoding` or `bad json encoding`. */
export function invalidOffset(offset: string, reason: string): KongError {
  return failure(400, 7, 'invalid offset', `'${offset}' is not a valid offset: ${reason}`);
}

/** Code 8. The Admin API shows only `unexpectedError()` for it. */
export function databaseError(message = 'database error'): KongError {
  return failure(500, 8, 'database error', message);
}

/** Code 9. */
export function invalidSize(message: string): KongError {
  return failure(400, 9, 'invalid size', message);
}

/** Code 10: a unique field in the path is invalid. It has no fields. */
export function invalidUnique(field: string, message: string): KongError {
  return failure(400, 10, `invalid unique ${field}`, message);
}

/** Code 11. */
export function invalidOptions(options: Readonly<Record<string, string>>): KongError {
  const parts = Object.keys(options)
    .sort(byBytes)
    .map((name) => `${name}: ${options[name]}`);
  const message =
    parts.length === 1 ? `invalid option (${parts[0]})` : `${parts.length} option violations (${parts.join('; ')})`;
  return failure(400, 11, 'invalid options', message, { options });
}

/** Code 12: writes without a database. */
export function operationUnsupported(message: string): KongError {
  return failure(405, 12, 'operation unsupported', message);
}

/** A reference by a unique field that matches no entity. */
export interface UnresolvedReference {
  /** The foreign field: `service`. */
  readonly field: string;
  /** The unique field of the reference: `name`. */
  readonly key: string;
  readonly value: unknown;
  /** Schema name of the referenced entity. */
  readonly entity: string;
}

/** Code 13. */
export function foreignKeysUnresolved(references: readonly UnresolvedReference[]): KongError {
  const fields: Record<string, Record<string, string>> = {};
  const sorted = references.toSorted((a, b) => byBytes(a.field, b.field) || byBytes(a.key, b.key));
  const parts = sorted.map(({ field, key, value, entity }) => {
    const table = printTable(truncatedValues({ [key]: value }));
    const text = `the foreign key cannot be resolved with '${table}' for an existing '${entity}' entity`;
    fields[field] = { ...fields[field], [key]: text };
    return `${field}.${key}: ${text}`;
  });
  const message =
    parts.length === 1
      ? `foreign key unresolved (${parts[0]})`
      : `${parts.length} foreign keys unresolved (${parts.join('; ')})`;
  return failure(400, 13, 'foreign keys unresolved', message, { fields });
}

/** Code 14. */
export function declarativeConfigInvalid(fields: ErrorTree): KongError {
  const message = `declarative config is invalid: ${printTable(fields)}`;
  return failure(400, 14, 'invalid declarative configuration', message, { fields });
}

/** Code 15. */
export function transformationError(message = 'transformation error'): KongError {
  return failure(500, 15, 'transformation error', message);
}

/** Code 16. */
export function invalidForeignKey(fields: Values): KongError {
  return failure(500, 16, 'invalid foreign key', `invalid foreign key: '${printTable(fields)}'`, { fields });
}

/** Code 17. */
export function invalidWorkspace(id: string): KongError {
  return failure(500, 17, 'invalid workspace', `invalid workspace '${id}'`);
}

/** Code 18. */
export function invalidUniqueGlobal(name: string): KongError {
  return failure(500, 18, 'invalid global query', `unique key ${name} is invalid for global query`);
}

/** Code 19. */
export function referencedByOthers(message: string): KongError {
  return failure(400, 19, 'referenced by others', message);
}

/** An error without a code: 404 `Not found`, 405 `Method not allowed`. */
export function plainError(status: number, message: string): PlainError {
  return { status, body: { message } };
}

/** The response to an internal error. */
export function unexpectedError(): PlainError {
  return plainError(500, 'An unexpected error occurred');
}

function truncatedValues(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? truncated(value) : value]),
  );
}

function failure(
  status: number,
  code: number,
  name: string,
  message: string,
  detail: Pick<KongErrorBody, 'fields' | 'options'> = {},
): KongError {
  return { status, body: { code, name, message, ...detail } };
}
