import type { ConfigRows } from '../../control/declarative/contract.ts';
import { EntityAccessError } from '../../plugin-sdk/entity-access.ts';
import type { EntityDefinition, Row } from '../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../shared/entities/registry.ts';
import { foreignId } from '../../shared/entities/row-fields.ts';
import { applyPatch, buildRow, type RowResult } from '../../shared/entities/rows.ts';
import type { Found, Question, TouchedRow } from '../../shared/lookup/calls.ts';
import { violationMessage } from '../../shared/schema/violation-message.ts';
import { touchedRow } from './config/declared-rows.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface MemoryStoreOptions {
  readonly entities: EntityRegistry;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Rows were written by a plugin. */
  readonly written: (rows: readonly TouchedRow[]) => void;
}

/** The store of a test gateway: the rows of its config, and what its plugins write. */
export class MemoryStore {
  /** Of the config that was applied last. */
  declared: ConfigRows = {};
  readonly #options: MemoryStoreOptions;
  /** By entity and id, what plugins have written. */
  readonly #written = new Map<string, Map<string, Row>>();
  readonly #removed = new Set<string>();

  constructor(options: MemoryStoreOptions) {
    this.#options = options;
  }

  find({ entity, field, value, many }: Question, version: number): Found {
    const rows = this.#rows(entity).filter((row) => (foreignId(row, field) ?? row[field]) === value);
    return { version, rows: many ? rows : rows.slice(0, 1) };
  }

  async insert(entity: string, fields: Fields): Promise<Row> {
    const definition = this.#definition(entity);
    const row = await this.#stored(
      definition,
      buildRow(definition, fields, { now: this.#options.now() }),
      fields,
      null,
    );
    for (const field of ['id', ...definition.unique]) {
      const taken =
        row[field] !== null && row[field] !== undefined && this.#rows(entity).some((one) => one[field] === row[field]);
      if (taken) throw new EntityAccessError('conflict', `UNIQUE violation detected on '${field}'`);
    }
    for (const [field, { entity: parent }] of Object.entries(definition.foreign)) {
      const id = foreignId(row, field);
      if (id !== null && !this.#rows(parent).some((one) => one.id === id)) {
        throw new EntityAccessError('conflict', `there is no ${parent} '${id}'`);
      }
    }
    this.#put(entity, row);
    return row;
  }

  async update(entity: string, id: string, fields: Fields): Promise<Row | null> {
    const before = this.#rows(entity).find((row) => row.id === id) ?? null;
    if (before === null) return null;
    const definition = this.#definition(entity);
    const row = await this.#stored(
      definition,
      applyPatch(definition, before, fields, { now: this.#options.now() }),
      fields,
      before,
    );
    this.#put(entity, row);
    return row;
  }

  delete(entity: string, id: string): boolean {
    if (!this.#rows(entity).some((row) => row.id === id)) return false;
    this.#written.get(entity)?.delete(id);
    this.#removed.add(`${entity}/${id}`);
    this.#options.written([{ entity, id, values: {} }]);
    for (const child of this.#options.entities.definitions) {
      for (const [field, { entity: parent, onDelete }] of Object.entries(child.foreign)) {
        if (parent !== entity || onDelete !== 'cascade') continue;
        for (const row of this.#rows(child.name)) if (foreignId(row, field) === id) this.delete(child.name, row.id);
      }
    }
    return true;
  }

  #rows(entity: string): readonly Row[] {
    const written = this.#written.get(entity);
    const now = this.#options.now();
    const declared = (this.declared[entity] ?? []).filter(({ id }) => written?.has(id) !== true);
    return [...declared, ...(written?.values() ?? [])].filter(
      (row) =>
        !this.#removed.has(`${entity}/${row.id}`) &&
        !(typeof row['expires_at'] === 'number' && row['expires_at'] <= now),
    );
  }

  #put(entity: string, row: Row): void {
    const rows = this.#written.get(entity) ?? new Map<string, Row>();
    this.#written.set(entity, rows.set(row.id, row));
    this.#removed.delete(`${entity}/${row.id}`);
    this.#options.written([touchedRow(entity, row)]);
  }

  async #stored(definition: EntityDefinition, result: RowResult, given: Fields, before: Row | null): Promise<Row> {
    if (!result.ok) throw new EntityAccessError('invalid', violationMessage(result.error.fields));
    return (await definition.conceal?.(result.row, { hashKeys: false, given, before }))?.stored ?? result.row;
  }

  #definition(name: string): EntityDefinition {
    const definition = this.#options.entities.byName(name);
    if (definition === undefined) throw new TypeError(`there is no entity '${name}'`);
    return definition;
  }
}
