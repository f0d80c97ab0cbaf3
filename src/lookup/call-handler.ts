import type { EntityDefinition, Row } from '../entities/entity.ts';
import type { EntityRegistry } from '../entities/registry.ts';
import type { Lease, LeaseRequest } from '../limits/limit-tools.ts';
import { type Store, StoreError, type StoreWriter } from '../store/store.ts';
import type { NameAnswer } from '../upstream/worker-names.ts';
import { type Call, type CallFailure, type Found, mostRows, type Question } from './questions.ts';
import type { QuestionBatch, RememberedRows } from './remembered-rows.ts';
import { InvalidFields, insertRow, updateRow } from './write-rows.ts';

export interface CallHandlerOptions {
  readonly store: Store;
  readonly entities: EntityRegistry;
  readonly hashKeys: boolean;
  /** Rows that were asked for lately; null: the store is always asked. */
  readonly remembered: RememberedRows | null;
  /** Version of the store up to which the workers have been told of changes. */
  readonly followed: () => number;
  /** Resolves when every worker has this version of the store. */
  readonly published: (version: number) => Promise<void>;
  readonly lease: (requests: readonly LeaseRequest[]) => Promise<readonly Lease[]>;
  readonly resolve: (name: string) => Promise<NameAnswer>;
  /** Passes a message on to a plugin's background part. */
  readonly background: (plugin: string, message: unknown) => Promise<unknown>;
}

/** The rows that answer a question, as the store has them now. */
export async function readRows(store: Store, { entity, field, value, many }: Question): Promise<readonly Row[]> {
  if (many) return store.list(entity, { where: { [field]: value }, limit: mostRows });
  const row = field === 'id' ? await store.get(entity, value) : await store.findBy(entity, field, value);
  return row === null ? [] : [row];
}

/** Maximum rows in one answer to several questions. */
const mostRowsOfMany = 10_000;

/** The rows that have one of the values, in the order of lists; null: there are too many. */
export async function readManyRows(
  store: Store,
  { entity, field, values }: QuestionBatch,
): Promise<readonly Row[] | null> {
  const rows = await store.list(entity, { where: { [field]: values }, limit: mostRowsOfMany });
  return rows.length === mostRowsOfMany ? null : rows;
}

export type CallResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly failure: CallFailure };

type Fields = Readonly<Record<string, unknown>>;

/** Answers what workers ask, from the store. */
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
    const { store, followed, remembered } = this.#options;
    // Before the rows are read: they may be newer than that, which does no harm, but never older.
    const version = followed();
    if (remembered !== null) return { version, rows: await remembered.rows(question) };
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
  if (!(error instanceof StoreError)) return { kind: 'mistake', message, fields: {} };
  const { detail } = error;
  if (detail.kind === 'unavailable' || detail.kind === 'refused') return { kind: 'unavailable', message, fields: {} };
  return { kind: 'conflict', message, fields: detail.kind === 'unique' ? detail.fields : {} };
}
