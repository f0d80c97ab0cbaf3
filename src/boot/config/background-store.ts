import { InvalidFields, insertRow, updateRow } from '../../control/lookup/write-rows.ts';
import { type Store, StoreError, type StoreReader, type StoreWriter } from '../../control/store/store.ts';
import type { BackgroundReader, BackgroundStore, BackgroundWriter } from '../../plugin-sdk/background.ts';
import { EntityAccessError } from '../../plugin-sdk/entity-access.ts';
import type { EntityDefinition } from '../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../shared/entities/registry.ts';

/** Maximum rows of one answer. */
const maxListed = 1000;
const maxRows = 10_000;

/** Other nodes follow the store within a second; this leaves them time to update their workers. */
const spreadBetweenNodes = 2000;

export interface BackgroundStoreOptions {
  readonly store: Store;
  /** Other nodes can use the store, too. */
  readonly shared: boolean;
  readonly entities: EntityRegistry;
  readonly hashKeys: boolean;
  /** Resolves when every worker has this version of the store. */
  readonly published: (version: number) => Promise<void>;
}

/** The store, as the background parts of plugins see it. */
export function backgroundStore({
  store,
  shared,
  entities,
  hashKeys,
  published,
}: BackgroundStoreOptions): BackgroundStore {
  const definition = (entity: string): EntityDefinition => {
    const found = entities.byName(entity);
    if (found === undefined) throw new TypeError(`there is no entity '${entity}'`);
    return found;
  };
  const writerOf = (writer: StoreWriter): BackgroundWriter => ({
    ...readerOf(writer),
    insert: (entity, fields) => translated(insertRow(writer, definition(entity), fields, hashKeys)),
    update: (entity, id, fields) => translated(updateRow(writer, definition(entity), id, fields, hashKeys)),
    delete: (entity, id) => translated(writer.delete(entity, id)),
  });
  return {
    ...readerOf(store),
    spread: shared ? spreadBetweenNodes : 0,
    async write(work) {
      const { result, version } = await translated(store.write((writer) => work(writerOf(writer))));
      await published(version);
      return result;
    },
  };
}

function readerOf(reader: StoreReader): BackgroundReader {
  return {
    find: (entity, field, value) =>
      translated(field === 'id' ? reader.get(entity, value) : reader.findBy(entity, field, value)),
    list: (entity, field, value) => translated(reader.list(entity, { where: { [field]: value }, limit: maxListed })),
    all: (entity) => translated(reader.list(entity, { limit: maxRows })),
  };
}

async function translated<T>(pending: Promise<T>): Promise<T> {
  try {
    return await pending;
  } catch (error) {
    throw accessError(error);
  }
}

function accessError(error: unknown): unknown {
  if (error instanceof InvalidFields) return new EntityAccessError('invalid', error.message, error.fields);
  if (!(error instanceof StoreError)) return error;
  const { kind } = error.detail;
  const unavailable = kind === 'unavailable' || kind === 'refused';
  return new EntityAccessError(unavailable ? 'unavailable' : 'conflict', error.message);
}
