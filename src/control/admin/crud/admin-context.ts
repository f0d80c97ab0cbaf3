import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import type { Attribution } from '../../store/history.ts';
import type { Store, StoreReader, StoreWriter } from '../../store/store.ts';
import type { Caller } from '../access/caller.ts';
import { runFor } from '../access/current-caller.ts';
import { guardWrites } from '../access/guard-writes.ts';
import { requireStillSignedIn } from '../access/still-signed-in.ts';
import type { ConfigPublisher } from '../contract.ts';
import type { AdminRequest } from '../http/admin-route.ts';

/** Extensions of one entity. Everything runs inside the request's transaction. */
export interface EntityExtras {
  /** Another way to find an entity by its path segment, when it is not a UUID. */
  findByName?(reader: StoreReader, name: string): Promise<Row | null>;
  /** Values of the virtual fields of these rows, in the same order. */
  virtuals?(reader: StoreReader, rows: readonly Row[]): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Rules that need other entities. Throws the error for the client. */
  check?(reader: StoreReader, row: Row): Promise<void>;
  afterWrite?(writer: StoreWriter, row: Row, virtual: Readonly<Record<string, unknown>>): Promise<void>;
  beforeDelete?(reader: StoreReader, row: Row): Promise<void>;
}

/** What the handlers of all entities need. */
export interface AdminContext {
  readonly store: Store;
  readonly entities: EntityRegistry;
  /** The setting `hash_keys`. */
  readonly hashKeys: boolean;
  /**
   * One transaction, with its audit records; resolves when the workers route by it, so that a client that receives
   * 201 finds it routed. Rejects with 403, and changes nothing, when the caller may not change what `work` has changed. `made`: what the
   * version of the config says about it; default: a write.
   */
  commit<T>(
    request: Pick<AdminRequest, 'trail' | 'caller'>,
    work: (writer: StoreWriter) => Promise<T>,
    made?: Omit<Attribution, 'actor'>,
  ): Promise<T>;
  /** Does everything that `commit` does up to the end of the transaction, and rolls it back. */
  rehearse<T>(request: Pick<AdminRequest, 'caller'>, work: (writer: StoreWriter) => Promise<T>): Promise<T>;
  /** The definition of that schema name; an unknown one is an error in the code. */
  entity(name: string): EntityDefinition;
  extras(name: string): EntityExtras;
}

export interface AdminContextParts {
  readonly store: Store;
  readonly publisher: ConfigPublisher;
  readonly entities: EntityRegistry;
  readonly hashKeys: boolean;
  readonly extras: Readonly<Record<string, (context: AdminContext) => EntityExtras>>;
}

const none: EntityExtras = {};

/** Ends the transaction of a rehearsal. */
class Rehearsed extends Error {}

export function createAdminContext(parts: AdminContextParts): AdminContext {
  const { store, publisher, entities, hashKeys } = parts;
  const extras = new Map<string, EntityExtras>();
  const context: AdminContext = {
    store,
    entities,
    hashKeys,
    async commit({ trail, caller }, work, made = { action: 'write' }) {
      let changed = false;
      const { result, version } = await store.write(async (writer) => {
        const done = await guarded(writer, caller, work);
        await trail.record(writer, made);
        changed = writer.changes.some(({ entity }) => entities.byName(entity)?.inConfig === true);
        return done;
      });
      if (changed) trail.version = version;
      await publisher.published(version);
      return result;
    },
    async rehearse({ caller }, work) {
      const done: { value?: Awaited<ReturnType<typeof work>> } = {};
      try {
        await store.write(async (writer) => {
          done.value = await guarded(writer, caller, work);
          throw new Rehearsed();
        });
      } catch (error) {
        if (!(error instanceof Rehearsed)) throw error;
      }
      return done.value as Awaited<ReturnType<typeof work>>;
    },
    entity(name) {
      const definition = entities.byName(name);
      if (definition === undefined) throw new Error(`there is no entity '${name}'`);
      return definition;
    },
    extras: (name) => extras.get(name) ?? none,
  };

  async function guarded<T>(
    writer: StoreWriter,
    caller: Caller,
    work: (writer: StoreWriter) => Promise<T>,
  ): Promise<T> {
    await requireStillSignedIn(writer, caller);
    const { writer: own, verify } = guardWrites(writer, caller, entities);
    // The transaction may have been begun for another request, with another caller.
    const done = await runFor(caller, () => work(own));
    await verify();
    return done;
  }

  for (const [name, create] of Object.entries(parts.extras)) extras.set(name, create(context));
  return context;
}
