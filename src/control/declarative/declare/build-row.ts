import type { Concealed, EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import { applyPut, type RowResult } from '../../../shared/entities/rows.ts';
import { withSlowChecksOffThread } from '../../../shared/schema/slow-check.ts';
import type { ErrorTree } from '../../../shared/schema/validate.ts';
import type { CurrentRows } from './current-rows.ts';
import type { Entry } from './entry.ts';
import { isSameValue } from './same-value.ts';
import { notHashes, withMarkedHashes } from './stored-hashes.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface RowContext {
  readonly now: number;
  readonly hashKeys: boolean;
  /** False: the document has `_transform: false`. */
  readonly transform: boolean;
}

/** Stands in for a reference that is unknown, so that the other fields are validated. */
const unknownId = '00000000-0000-4000-8000-000000000000';

/** What is wrong with an entry, or null. At once where nothing takes long. */
type Outcome = ErrorTree | null | Promise<ErrorTree | null>;

/** Validates the entry, and sets its row when it is valid. */
export function buildRow(entry: Entry, current: CurrentRows, context: RowContext): Outcome {
  const built = buildFrom(entry, context);
  return built instanceof Promise ? built.then((one) => accept(one)) : accept(built);

  function accept(one: Built): Outcome {
    if (!one.ok) return one.errors;
    if (entry.before === null && entry.givenId === null) {
      // Fields that were derived, or a row without any unique value.
      const row = current.findByKeys(one.row) ?? current.findSame(one.row);
      if (row !== null && current.claim(row.id)) {
        entry.id = row.id;
        entry.before = row;
        return buildRow(entry, current, context);
      }
    }
    entry.row = kept(entry, one.row, context.now);
    return null;
  }
}

type Built = { readonly ok: true; readonly row: Row } | { readonly ok: false; readonly errors: ErrorTree };

function buildFrom(entry: Entry, { now, hashKeys, transform }: RowContext): Built | Promise<Built> {
  const { definition } = entry;
  const fields = transform ? entry.input : withMarkedHashes(definition.name, entry.input);
  const before = hasOtherSecrets(definition, fields, entry.before) ? null : entry.before;
  const given = withReferences(entry, before === null ? fields : withoutComputed(definition, fields));
  const put = (): RowResult => applyPut(definition, given, { now, id: entry.id, before });
  // A slow check of a plugin runs in another thread.
  if (definition.name !== 'plugins') return conceal(put());
  return withSlowChecksOffThread(async () => put()).then(conceal);

  function conceal(result: RowResult): Built | Promise<Built> {
    const idProblem = idProblemOf(entry);
    if (!result.ok || idProblem !== null) {
      return { ok: false, errors: { ...(result.ok ? {} : result.error.fields), ...idProblem } };
    }
    const concealed = definition.conceal?.(result.row, { hashKeys, given, before });
    if (concealed === undefined) return { ok: true, row: result.row };
    return concealed instanceof Promise ? concealed.then(stored) : stored(concealed);
  }

  function stored({ stored: row }: Concealed): Built {
    const wrong = transform ? null : notHashes(given, row);
    return wrong === null ? { ok: true, row } : { ok: false, errors: wrong };
  }
}

function withReferences({ definition, references }: Entry, input: Fields): Fields {
  const fields = foreignFields(definition);
  if (fields.length === 0) return input;
  const output: Record<string, unknown> = { ...input };
  for (const field of fields) {
    const id = references[field];
    if (id !== undefined) output[field] = { id };
    else if (output[field] != null) output[field] = { id: unknownId };
  }
  return output;
}

function foreignFields(definition: EntityDefinition): readonly string[] {
  let fields = foreignNames.get(definition);
  if (fields === undefined) {
    fields = Object.keys(definition.foreign);
    foreignNames.set(definition, fields);
  }
  return fields;
}

const foreignNames = new WeakMap<EntityDefinition, readonly string[]>();

function idProblemOf({ input, givenId }: Entry): ErrorTree | null {
  const { id } = input;
  if (givenId !== null || id === undefined || id === null) return null;
  return { id: typeof id === 'string' ? 'expected a valid UUID' : 'expected a string' };
}

/** Documents contain what an export showed, so computed fields of an existing entity are ignored, as in a PUT. */
function withoutComputed({ schema }: EntityDefinition, input: Fields): Fields {
  let output: Record<string, unknown> | null = null;
  for (const [name, { meta }] of schema.fields) {
    if (meta.computed !== true || !Object.hasOwn(input, name)) continue;
    output ??= { ...input };
    delete output[name];
  }
  return output ?? input;
}

/** The document has the hash of another secret: that of the row must not be kept. */
function hasOtherSecrets({ schema }: EntityDefinition, input: Fields, before: Row | null): boolean {
  if (before === null) return false;
  for (const [name, { meta }] of schema.fields) {
    const value = meta.computed === true ? input[name] : null;
    if (value != null && !isSameValue(value, before[name])) return true;
  }
  return false;
}

/** The row with what persists of the one before: times, and all of it if nothing else changed. */
function kept(entry: Entry, row: Row, now: number): Row {
  const { definition, before, input } = entry;
  if (before === null) return row;
  const output: Record<string, unknown> = { ...row, created_at: createdAt(row, before, input) };
  if (hasSameTags(row, before)) output['tags'] = before['tags'];
  if (definition.expires) output['expires_at'] = expiresAt(row, before);
  if (definition.hasUpdatedAt) output['updated_at'] = before['updated_at'];
  if (isSameValue(output, before)) return before;
  if (definition.hasUpdatedAt) output['updated_at'] = now;
  return output as Row;
}

/** Tools sort tags. */
function hasSameTags({ tags }: Row, { tags: old }: Row): boolean {
  return Array.isArray(tags) && Array.isArray(old) && isSameValue(tags.toSorted(), old.toSorted());
}

/** A document has whole seconds. */
function createdAt(row: Row, before: Row, { created_at: given }: Fields): number {
  if (given === undefined || given === null) return before.created_at;
  return row.created_at === Math.floor(before.created_at / 1000) * 1000 ? before.created_at : row.created_at;
}

/**
 * `ttl` counts from the moment at which the document is applied. Applying it again must not give a credential a longer life, so an
 * expiry is only ever moved closer; a second is the precision of exports.
 */
function expiresAt(row: Row, before: Row): unknown {
  const after = row['expires_at'];
  const old = before['expires_at'];
  if (typeof after !== 'number' || typeof old !== 'number') return after ?? null;
  return after > old - 1000 ? old : after;
}
