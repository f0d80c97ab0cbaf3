import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { EntityDefinition } from '../../../shared/entities/entity.ts';
import type { FeedPosition, Store } from '../store.ts';
import { deleteAudit, getAudit, listAudit } from './audit-records.ts';
import { createChangeFeed } from './change-feed.ts';
import { readChanges } from './change-log.ts';
import { getVersion, listVersionChanges, listVersions, rowsBetween, trimHistory } from './config-history.ts';
import { GroupCommit } from './group-commit.ts';
import { deleteExpiredCounters, leaseCounters, readCounters, resetCounters } from './limit-counters.ts';
import type { Migration } from './migrations/migration.ts';
import { createNodesStore } from './node-rows.ts';
import { RecentCommit } from './recent-commit.ts';
import { dumpEntities } from './rows/dump-entities.ts';
import { columnOf, tableOf, toEntityTables } from './rows/entity-table.ts';
import { listTags } from './rows/list-tags.ts';
import { migrate } from './schema/migrate.ts';
import type { SqlBackend, SqlTransaction, StoreLog } from './sql-backend.ts';
import { createReader } from './sql-reader.ts';
import { plain } from './statements.ts';
import { readHead } from './store-head.ts';
import { createUsageStore } from './usage-rows.ts';

export interface SqlStoreOptions {
  readonly definitions: readonly EntityDefinition[];
  readonly log: StoreLog;
  readonly keptChanges: number;
  readonly later?: readonly Migration[] | undefined;
  readonly giveWay?: (() => void) | undefined;
  /** Greatest version that was read from the store before. Default 0. */
  readonly seen?: number | undefined;
}

export function createSqlStore(
  backend: SqlBackend,
  { definitions, log, keptChanges, later, giveWay = () => {}, seen = 0 }: SqlStoreOptions,
): Store {
  const tables = toEntityTables(definitions);
  let greatestSeen = seen;
  function see<T extends FeedPosition>(position: T): T {
    greatestSeen = Math.max(greatestSeen, position.version);
    return position;
  }
  const position = async (): Promise<FeedPosition> => {
    const { store, version, stamp } = see(await readHead(plain(backend.read)));
    return { store, version, stamp };
  };
  const feed = createChangeFeed(
    () => backend.watch((seen) => feed.announce(seen.stamp === null ? seen : see(seen))),
    log,
  );

  const recent = new RecentCommit();
  // Only one transaction of this node waits for those of others, so that they do not use up its connections.
  const commits = new GroupCommit({
    backend,
    tables,
    keptChanges,
    greatestSeen: () => greatestSeen,
    giveWay,
    committed: (commit) => {
      // Of more changes than are kept, other nodes see a gap; so does this one.
      if (commit.changes.length <= keptChanges) recent.set(commit);
      feed.announce(see(commit.position), 'this node');
    },
  });

  /** Several reads of one instant. */
  function consistently<T>(read: (transaction: SqlTransaction) => Promise<T>): Promise<T> {
    return backend.snapshot.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read);
  }

  return {
    ...createReader(backend.read, tables),
    kind: backend.kind,
    migrate: ({ shared = backend.kind === 'postgres' } = {}) => migrate(backend, { tables, later, shared }),
    write: (work) => commits.write(work),
    listTags: (query) => listTags(backend.read, tables, query),
    dump: (entities) =>
      consistently(async (transaction) => see(await dumpEntities(plain(transaction), tables, entities))),
    version: async () => (await position()).version,
    position,
    changesSince: async (since, limit) => {
      const known = recent.has(since) ? recent.changesSince(since, await readHead(plain(backend.read)), limit) : null;
      if (known !== null) return known;
      const batch = await consistently((transaction) => readChanges(transaction, tables, since, limit));
      if (typeof batch !== 'string') see(batch.position);
      return batch;
    },
    subscribe: (listener) => feed.subscribe(listener),
    leaseCounters: (requests) => leaseCounters(backend, requests),
    readCounters: (keys) => readCounters(backend.counters, keys),
    resetCounters: (counters) => resetCounters(backend.counters, counters),
    deleteExpiredCounters: () => deleteExpiredCounters(backend),
    listAudit: (query) => listAudit(backend.read, query),
    getAudit: (id) => getAudit(backend.read, id),
    deleteAudit: (before) => deleteAudit(backend, before),
    noteUse: async (entity, id, field, value) => {
      const table = tableOf(tables, entity);
      const column = sql.ref(columnOf(table, field));
      await sql`update ${sql.table(table.name)} set ${column} = ${value}
        where id = ${id} and (${column} is null or ${column} < ${value})`.execute(backend.counters);
    },
    listVersions: (query) => listVersions(backend.read, query),
    getVersion: (version) => getVersion(backend.read, version),
    listVersionChanges: (version, page) => listVersionChanges(backend.read, tables, version, page),
    rowsBetween: (from, to) =>
      consistently((transaction) => rowsBetween(transaction, tables, { from, to }, () => nextTurn())),
    trimHistory: (limits) => trimHistory(backend, backend.read, limits),
    ...createUsageStore(backend),
    ...createNodesStore(backend),
    ping: () => backend.ping(),
    close: async () => {
      await feed.close();
      await backend.close();
    },
  };
}
