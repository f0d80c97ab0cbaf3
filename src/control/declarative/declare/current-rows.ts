import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import type { Pace } from './pace.ts';
import { canonicalText } from './same-value.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The rows of one entity that are there now. Each may be the predecessor of one entity of the document. */
export interface CurrentRows {
  get(id: string): Row | null;
  /** A row that no entity has claimed, with the same value in a unique field, or in all fields that are unique together. */
  findByKeys(fields: Fields): Row | null;
  /** A row that no entity has claimed, with all the same fields except id and times. For entities without unique values. */
  findSame(row: Row): Row | null;
  /** False: another entity has claimed that id. */
  claim(id: string): boolean;
}

/** Fields that identify an entity well enough, although two may have the same. */
const natural: Readonly<Record<string, readonly string[]>> = { certificates: ['cert'] };

export async function createCurrentRows(
  definition: EntityDefinition,
  rows: readonly Row[],
  pace: Pace,
): Promise<CurrentRows> {
  const ids = new Map(rows.map((row) => [row.id, row]));
  const claimed = new Set<string>();
  const indexes: { readonly fields: readonly string[]; readonly rows: ReadonlyMap<string, Row> }[] = [];
  for (const fields of keysOf(definition)) indexes.push({ fields, rows: await indexBy(fields, rows, pace) });
  let same: Map<string, Row[]> | null = null;

  function free(row: Row | undefined): Row | null {
    return row === undefined || claimed.has(row.id) ? null : row;
  }

  return {
    get: (id) => ids.get(id) ?? null,
    findByKeys(fields) {
      if (rows.length === 0) return null;
      for (const index of indexes) {
        const key = keyOf(index.fields, fields);
        const found = key === null ? null : free(index.rows.get(key));
        if (found !== null) return found;
      }
      return null;
    },
    findSame(row) {
      if (rows.length === 0 || !isNameless(row)) return null;
      same ??= Map.groupBy(rows.filter(isNameless), (one) => contentOf(definition, one));
      return same.get(contentOf(definition, row))?.find(({ id }) => !claimed.has(id)) ?? null;
    },
    claim(id) {
      if (claimed.has(id)) return false;
      claimed.add(id);
      return true;
    },
  };

  /** No field of it is unique. */
  function isNameless(row: Row): boolean {
    return indexes.every(({ fields }) => keyOf(fields, row) === null || isNatural(definition, fields));
  }
}

function isNatural({ name }: EntityDefinition, [field = '']: readonly string[]): boolean {
  return natural[name]?.includes(field) === true;
}

function keysOf({ name, unique, uniqueTogether }: EntityDefinition): readonly (readonly string[])[] {
  return [...unique.map((field) => [field]), ...uniqueTogether, ...(natural[name] ?? []).map((field) => [field])];
}

async function indexBy(fields: readonly string[], rows: readonly Row[], pace: Pace): Promise<ReadonlyMap<string, Row>> {
  const index = new Map<string, Row>();
  for (const row of rows) {
    const wait = pace();
    if (wait !== null) await wait;
    const key = keyOf(fields, row);
    if (key !== null && !index.has(key)) index.set(key, row);
  }
  return index;
}

/** Null is a value only among several fields. */
export function keyOf(fields: readonly string[], values: Fields): string | null {
  const [only] = fields;
  if (fields.length === 1 && only !== undefined) {
    const value = values[only];
    return typeof value === 'string' ? value : null;
  }
  const parts = fields.map((field) => {
    const value = values[field];
    return typeof value === 'object' && value !== null && 'id' in value ? value.id : (value ?? null);
  });
  return JSON.stringify(parts);
}

function contentOf(definition: EntityDefinition, row: Row): string {
  const { id: _, ...rest } = row;
  const content: Record<string, unknown> = { ...rest };
  for (const [name, { meta }] of definition.schema.fields) if (meta.timestamp === true) delete content[name];
  delete content['expires_at'];
  return canonicalText(content);
}
