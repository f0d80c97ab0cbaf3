import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import { applyPatch, applyPut, buildRow, inferInput, type RowResult } from '../../../shared/entities/rows.ts';
import { invalidOptions, invalidUnique, notFoundByKey } from '../../../shared/schema/errors.ts';
import { orderedUuid } from '../../../shared/util/time/ordered-uuid.ts';
import type { StoreWriter } from '../../store/store.ts';
import { invalidInput, kongError } from '../errors.ts';
import type { RequestBody } from '../http/request-body.ts';
import type { AdminContext } from './admin-context.ts';
import { idOf } from './find-entity.ts';
import type { Input } from './input.ts';
import { resolveReferences } from './resolve-references.ts';
import { type Shown, showEntity } from './show-entity.ts';

/** The typed values of the body. A form has only text, which the schema converts. */
export function readInput(definition: EntityDefinition, body: RequestBody, stored?: Row): Input {
  const input = body.form ? inferInput(definition, body.value, stored) : body.value;
  if (definition.expires) checkTtl(input['ttl']);
  return input;
}

const maxTtl = 100_000_000;

/** Kong reports a wrong `ttl` as a wrong option, not as a wrong field. */
function checkTtl(ttl: unknown): void {
  if (ttl === undefined || ttl === null) return;
  if (Number.isInteger(ttl) && (ttl as number) >= 0 && (ttl as number) <= maxTtl) return;
  throw kongError(invalidOptions({ ttl: `must be an integer between 0 and ${maxTtl}` }));
}

export async function insertEntity(
  context: AdminContext,
  writer: StoreWriter,
  definition: EntityDefinition,
  input: Input,
): Promise<Shown> {
  const resolved = await resolveReferences(context, writer, definition, input);
  const built = valid(buildRow(definition, resolved, { now: writer.now }));
  return store(context, writer, definition, { ...built, given: resolved, before: null }, (row) =>
    writer.insert(definition.name, row, { keepCreatedAt: givesCreatedAt(resolved) }),
  );
}

/** The target of a PUT: an id, or the value of the endpoint key. */
export type PutTarget = { readonly id: string } | { readonly name: string };

export function putTarget(segment: string): PutTarget {
  const id = idOf(segment);
  return id !== null ? { id } : { name: segment };
}

/** Creates the entity or replaces it: omitted fields are reset to their defaults. */
export async function putEntity(
  context: AdminContext,
  writer: StoreWriter,
  definition: EntityDefinition,
  target: PutTarget,
  existing: Row | null,
  input: Input,
): Promise<Shown> {
  const named = 'name' in target && definition.endpointKey !== null ? { [definition.endpointKey]: target.name } : {};
  const own = existing === null ? input : withoutComputed(definition, input);
  const resolved = await resolveReferences(context, writer, definition, { ...own, ...named });
  const id = existing?.id ?? ('id' in target ? target.id : newId(input));
  const result = applyPut(definition, resolved, { now: writer.now, id, before: existing });
  if (!result.ok && 'name' in target && definition.endpointKey !== null) {
    const message = result.error.fields[definition.endpointKey];
    if (typeof message === 'string') throw kongError(invalidUnique(definition.endpointKey, message));
  }
  const built = valid(result);
  const given = givesCreatedAt(resolved);
  return store(context, writer, definition, { ...built, given: resolved, before: existing }, (row) =>
    existing === null
      ? writer.insert(definition.name, row, { keepCreatedAt: given })
      : writer.update(definition.name, keepMilliseconds(row, existing), { renewCreatedAt: !given }),
  );
}

/** Merges the patch into the stored entity and validates the whole. */
export async function patchEntity(
  context: AdminContext,
  writer: StoreWriter,
  definition: EntityDefinition,
  stored: Row,
  patch: Input,
): Promise<Shown> {
  const { id } = patch;
  if (typeof id === 'string' && id.toLowerCase() !== stored.id) throw kongError(notFoundByKey({ id }));
  const resolved = await resolveReferences(context, writer, definition, withoutComputed(definition, patch));
  const built = valid(applyPatch(definition, stored, resolved, { now: writer.now }));
  return store(context, writer, definition, { ...built, given: resolved, before: stored }, (row) =>
    writer.update(definition.name, keepMilliseconds(row, stored)),
  );
}

interface Built {
  readonly row: Row;
  readonly virtual: Readonly<Record<string, unknown>>;
}

interface Write extends Built {
  /** The fields of the client. */
  readonly given: Input;
  /** The row that is replaced; null for a new one. */
  readonly before: Row | null;
}

function valid(result: RowResult): Built {
  if (!result.ok) throw invalidInput(result.error.fields);
  return result;
}

async function store(
  context: AdminContext,
  writer: StoreWriter,
  definition: EntityDefinition,
  { row: built, virtual, given, before }: Write,
  write: (row: Row) => Promise<Row>,
): Promise<Shown> {
  const { check, afterWrite } = context.extras(definition.name);
  await check?.(writer, built);
  const { hashKeys } = context;
  const concealed = await definition.conceal?.(built, { hashKeys, given, before });
  const row = await write(concealed?.stored ?? built);
  await afterWrite?.(writer, row, virtual);
  return { ...(await showEntity(context, writer, definition, row, writer.now)), ...concealed?.shown };
}

/** Clients send back what they read, so computed fields of an existing entity are ignored. */
function withoutComputed(definition: EntityDefinition, input: Input): Input {
  const { fields } = definition.schema;
  return Object.fromEntries(Object.entries(input).filter(([name]) => fields.get(name)?.meta.computed !== true));
}

function givesCreatedAt(input: Input): boolean {
  return input['created_at'] !== undefined && input['created_at'] !== null;
}

function newId(input: Input): string {
  const { id } = input;
  return typeof id === 'string' ? (idOf(id) ?? orderedUuid()) : orderedUuid();
}

/**
 * Clients send back the `created_at` that they received, in whole seconds. Storing it as a new value would move the
 * entity within its list.
 */
function keepMilliseconds(row: Row, stored: Row): Row {
  const shown = Math.floor(stored.created_at / 1000) * 1000;
  return row.created_at === shown ? { ...row, created_at: stored.created_at } : row;
}
