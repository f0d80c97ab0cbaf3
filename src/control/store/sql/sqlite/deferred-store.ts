import type { Dump, Store } from '../../store.ts';
import type { SqliteStart } from './sqlite-start.ts';

export interface DeferredStoreOptions {
  /** Null: the whole store is loaded by the first call. */
  readonly start: SqliteStart | null;
  /** `seen`: the version that was read before. Called once, and when it has failed again. */
  readonly load: (seen: number) => Promise<Store>;
  /** Closes a store that was not loaded. */
  readonly close: () => void;
}

/**
 * A store whose code is loaded when it is needed: what a node reads before it can answer requests needs little of it
 * (docs/decisions/0043). From the first other call on, everything is done by the whole store.
 */
export function createDeferredStore({ start, load, close }: DeferredStoreOptions): Store {
  let seen = 0;
  /** The last call that `start` serves. */
  let started: Promise<unknown> = Promise.resolve();
  let loading: Promise<Store> | null = null;
  let whole: Store | null = null;
  let closed = false;

  /** Null: it is a call for the whole store. */
  function atStart<T>(work: (reader: SqliteStart) => T | Promise<T>): Promise<T> | null {
    if (start === null || loading !== null) return null;
    const result = started.then(() => work(start));
    started = result.catch(() => undefined);
    return result;
  }

  async function loadWhole(): Promise<Store> {
    await started;
    if (closed) throw new Error('the store is closed');
    try {
      whole = await load(seen);
      return whole;
    } catch (error) {
      loading = null;
      throw error;
    }
  }

  function withWhole<T>(work: (store: Store) => Promise<T>): Promise<T> {
    if (whole !== null) return work(whole);
    loading ??= loadWhole();
    return loading.then(work);
  }

  async function dumpAtStart(reader: SqliteStart, entities: readonly string[]): Promise<Dump> {
    const dump = await reader.dump(entities);
    seen = Math.max(seen, dump.version);
    return dump;
  }

  function subscribe(listener: () => void): () => void {
    if (whole !== null) return whole.subscribe(listener);
    let stop: (() => void) | null = null;
    let stopped = false;
    const subscribed = withWhole(async (store) => {
      if (!stopped) stop = store.subscribe(listener);
    });
    // Those who read what has changed get the same error.
    subscribed.catch(() => undefined);
    return () => {
      stopped = true;
      stop?.();
    };
  }

  return {
    kind: 'sqlite',
    ping: () => atStart((reader) => reader.ping()) ?? withWhole((store) => store.ping()),
    migrate: async (options) => {
      if ((await atStart((reader) => reader.hasCurrentLayout())) !== true) {
        await withWhole((store) => store.migrate(options));
      }
    },
    dump: (entities) =>
      atStart((reader) => dumpAtStart(reader, entities)) ?? withWhole((store) => store.dump(entities)),
    subscribe,
    close: async () => {
      closed = true;
      if (loading === null) return close();
      await loading.then(
        (store) => store.close(),
        () => close(),
      );
    },

    get: (entity, id) => withWhole((store) => store.get(entity, id)),
    findBy: (entity, field, value) => withWhole((store) => store.findBy(entity, field, value)),
    list: (entity, query) => withWhole((store) => store.list(entity, query)),
    count: (entity) => withWhole((store) => store.count(entity)),
    hasExpired: () => withWhole((store) => store.hasExpired()),
    write: (work) => withWhole((store) => store.write(work)),
    listTags: (query) => withWhole((store) => store.listTags(query)),
    version: () => withWhole((store) => store.version()),
    position: () => withWhole((store) => store.position()),
    changesSince: (position, limit) => withWhole((store) => store.changesSince(position, limit)),
    noteUse: (entity, id, field, value) => withWhole((store) => store.noteUse(entity, id, field, value)),

    leaseCounters: (requests) => withWhole((store) => store.leaseCounters(requests)),
    readCounters: (keys) => withWhole((store) => store.readCounters(keys)),
    resetCounters: (counters) => withWhole((store) => store.resetCounters(counters)),
    deleteExpiredCounters: () => withWhole((store) => store.deleteExpiredCounters()),

    listAudit: (query) => withWhole((store) => store.listAudit(query)),
    getAudit: (id) => withWhole((store) => store.getAudit(id)),
    deleteAudit: (before) => withWhole((store) => store.deleteAudit(before)),

    listVersions: (query) => withWhole((store) => store.listVersions(query)),
    getVersion: (version) => withWhole((store) => store.getVersion(version)),
    listVersionChanges: (version, page) => withWhole((store) => store.listVersionChanges(version, page)),
    rowsBetween: (from, to) => withWhole((store) => store.rowsBetween(from, to)),
    trimHistory: (limits) => withWhole((store) => store.trimHistory(limits)),

    putUsage: (rows, names) => withWhole((store) => store.putUsage(rows, names)),
    readUsage: (query) => withWhole((store) => store.readUsage(query)),
    deleteUsage: (resolution, before) => withWhole((store) => store.deleteUsage(resolution, before)),
    readUsageNames: (kind, ids) => withWhole((store) => store.readUsageNames(kind, ids)),
    findUsageNames: (kind, name) => withWhole((store) => store.findUsageNames(kind, name)),
    deleteUsageNames: (before) => withWhole((store) => store.deleteUsageNames(before)),

    putNodes: (nodes) => withWhole((store) => store.putNodes(nodes)),
    readNodes: () => withWhole((store) => store.readNodes()),
    countNodes: (roles, within) => withWhole((store) => store.countNodes(roles, within)),
    removeNode: (id) => withWhole((store) => store.removeNode(id)),
    deleteNodes: (silentFor) => withWhole((store) => store.deleteNodes(silentFor)),
  };
}
