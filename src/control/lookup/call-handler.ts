import type { EntityDefinition, Row } from '../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../shared/entities/registry.ts';
import type { Lease, LeaseRequest } from '../../shared/limits/limit-tools.ts';
import type { CallResult } from '../../shared/lookup/calls.ts';
import { type Call, type CallFailure, type Found, maxRows, type Question } from '../../shared/lookup/calls.ts';
import type { NameAnswer } from '../../shared/messages/name-changes.ts';
import { type Store, StoreError, type StoreWriter } from '../store/store.ts';
import type { CachedRows, QuestionBatch } from './cached-rows.ts';
import { InvalidFields, insertRow, updateRow } from './write-rows.ts';

export interface CallHandlerOptions {
  readonly store: Store;
  readonly entities: EntityRegistry;
  readonly hashKeys: boolean;
  /** Recently looked-up rows; null: the store is always queried. */
  readonly cached: CachedRows | null;
  /** Version of the store up to which the workers have received changes. */
  readonly followed: () => number;
  /** Resolves when every worker has this version of the store. */
  readonly published: (version: number) => Promise<void>;
  readonly lease: (requests: readonly LeaseRequest[]) => Promise<readonly Lease[]>;
  readonly resolve: (name: string) => Promise<NameAnswer>;
  /** Passes a message on to a plugin's background part. */
  readonly background: (plugin: string, message: unknown) => Promise<unknown>;
}

/** The rows that match a lookup, as they are in the store now. */
export async function readRows(store: Store, { entity, field, value, many }: Question): Promise<readonly Row[]> {
  if (many) return store.list(entity, { where: { [field]: value }, limit: maxRows });
  const row = field === 'id' ? await store.get(entity, value) : await store.findBy(entity, field, value);
  return row === null ? [] : [row];
}

/** Maximum rows in one answer to several lookups. */
const maxRowsOfMany = 10_000;

/** The rows that have one of the values, in the order of lists; null: there are too many. */
export async function readManyRows(
  store: Store,
  { entity, field, values }: QuestionBatch,
): Promise<readonly Row[] | null> {
  const rows = await store.list(entity, { where: { [field]: values }, limit: maxRowsOfMany });
  return rows.length === maxRowsOfMany ? null : rows;
}

type Fields = Readonly<Record<string, unknown>>;

/** Answers the calls of workers, from the store. */
export class CallHandler {
  readonly #options: CallHandlerOptions;

  constructor(options: CallHandlerOptions) {
    this.#options = options;
  }

  async handle(call: Call): Promise<CallResult> {
    try {
      return { ok: true, value: await this.#answer(call) };
    } catch (error) {
      return { ok: false, failure: failureOf(error) };
    }
  }

  #answer(call: Call): Promise<unknown> {
    switch (call.method) {
      case 'find':
        return this.#find(call.question);
      case 'insert':
        return this.#insert(this.#definition(call.entity), call.fields);
      case 'update':
        return this.#update(this.#definition(call.entity), call.id, call.fields);
      case 'delete':
        return this.#write((writer) => writer.delete(call.entity, call.id));
      case 'lease':
        return this.#options.lease(call.requests);
      case 'resolve':
        return this.#options.resolve(call.name);
      case 'background':
        return this.#options.background(call.plugin, call.message);
    }
  }

  async #find(question: Question): Promise<Found> {
    const { store, followed, cached } = this.#options;
    // Before the rows are read: they may be newer than the version, which does no harm, but never older.
    const version = followed();
    if (cached !== null) return { version, rows: await cached.rows(question) };
    return { version, rows: await readRows(store, question) };
  }

  #insert(definition: EntityDefinition, fields: Fields): Promise<Row> {
    return this.#write((writer) => insertRow(writer, definition, fields, this.#options.hashKeys));
  }

  #update(definition: EntityDefinition, id: string, fields: Fields): Promise<Row | null> {
    return this.#write((writer) => updateRow(writer, definition, id, fields, this.#options.hashKeys));
  }

  async #write<T>(work: (writer: StoreWriter) => Promise<T>): Promise<T> {
    const { result, version } = await this.#options.store.write(work);
    await this.#options.published(version);
    return result;
  }

  #definition(entity: string): EntityDefinition {
    const definition = this.#options.entities.byName(entity);
    if (definition === undefined) throw new TypeError(`there is no entity '${entity}'`);
    return definition;
  }
}

function failureOf(error: unknown): CallFailure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof InvalidFields) return { kind: 'invalid', message, fields: error.fields };
  if (!(error instanceof StoreError)) return { kind: 'exception', message, fields: {} };
  const { detail } = error;
  if (detail.kind === 'unavailable' || detail.kind === 'refused') return { kind: 'unavailable', message, fields: {} };
  return { kind: 'conflict', message, fields: detail.kind === 'unique' ? detail.fields : {} };
}
