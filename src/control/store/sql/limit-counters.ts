import { sql } from 'kysely';
import { grantLease, onlyReads } from '../../../shared/limits/cluster/grant-lease.ts';
import type { Lease, LeaseRequest } from '../../../shared/limits/lease.ts';
import type { CounterId, StoredCounter } from '../store.ts';
import { chunks } from './chunks.ts';
import type { ColumnRow, Database, SqlBackend } from './sql-backend.ts';

/** A row of `limit_counters` during a batch. */
interface Counter {
  readonly key: string;
  readonly windowStart: number;
  /** Null: only read, so that no row is needed. */
  keepFor: number | null;
  used: number;
  changed: boolean;
}

type Counters = Map<string, Counter>;

/** Maximum counters that one statement removes, so that it does not block counting. */
const removedAtOnce = 1000;

/** Attempts to create the rows of a batch. More than one is needed only when they expire at that moment. */
const tries = 3;

/**
 * Grants what is left, in the order of the requests, as one atomic step. Rows are created first and locked in the order of
 * their keys, so that two nodes cannot deadlock.
 */
export async function leaseCounters(backend: SqlBackend, requests: readonly LeaseRequest[]): Promise<readonly Lease[]> {
  const wanted = countersOf(requests);
  if (requests.every(onlyReads)) {
    fill(wanted, await selectRows(backend.counters, wanted, false));
    return requests.map((request) => grant(request, wanted));
  }
  const locking = backend.kind === 'postgres';
  for (let attempt = 0; attempt < tries; attempt++) {
    const leases = await backend.counters.transaction().execute(async (transaction) => {
      const counters = countersOf(requests);
      const missing = fill(counters, await selectRows(transaction, counters, locking));
      if (missing.some((counter) => counter.keepFor !== null)) return null;
      const granted = requests.map((request) => grant(request, counters));
      await writeRows(transaction, counters);
      return granted;
    });
    if (leases !== null) return leases;
    await makeRows(backend, countersOf(requests));
  }
  throw new Error('counters expire while they are created: check the clocks of the nodes');
}

/** Reads the counters with these keys, of whatever window. */
export async function readCounters(database: Database, keys: readonly string[]): Promise<readonly StoredCounter[]> {
  const found: StoredCounter[] = [];
  for (const some of chunks(keys)) {
    const rows = await database
      .selectFrom('limit_counters')
      .selectAll()
      .where('key', 'in', some)
      .orderBy('key')
      .orderBy('window_start')
      .execute();
    for (const row of rows) {
      found.push({ key: String(row['key']), windowStart: Number(row['window_start']), used: Number(row['used']) });
    }
  }
  return found;
}

/** Sets counters back to 0. One after another, so that several locks cannot deadlock. */
export async function resetCounters(database: Database, counters: readonly CounterId[]): Promise<void> {
  for (const { key, windowStart } of counters) {
    await database.transaction().execute(async (transaction) => {
      await transaction
        .updateTable('limit_counters')
        .set({ used: 0 })
        .where('key', '=', key)
        .where('window_start', '=', windowStart)
        .execute();
    });
  }
}

/** Returns how many there were. */
export async function deleteExpiredCounters({ counters, kind, types }: SqlBackend): Promise<number> {
  const now = sql.raw(types.now);
  const { rows: some } = await sql`select 1 from limit_counters where expires_at <= ${now} limit 1`.execute(counters);
  if (some.length === 0) return 0;
  return await counters.transaction().execute(async (transaction) => {
    const { rows } = await sql<ColumnRow>`
      delete from limit_counters where (key, window_start) in (
        select key, window_start from limit_counters where expires_at <= ${now} order by expires_at
        limit ${removedAtOnce} ${sql.raw(kind === 'postgres' ? 'for update skip locked' : '')})
      returning window_start`.execute(transaction);
    return rows.length;
  });
}

/** Every counter of the requests, all at 0, in the order in which they are locked. */
function countersOf(requests: readonly LeaseRequest[]): Counters {
  const all: Counter[] = [];
  for (const { windows } of requests) {
    for (const { key, windowStart, keepFor, previous } of windows) {
      all.push({ key, windowStart, keepFor, used: 0, changed: false });
      if (previous !== null) {
        all.push({ key, windowStart: previous.windowStart, keepFor: null, used: 0, changed: false });
      }
    }
  }
  all.sort((a, b) => (a.key === b.key ? a.windowStart - b.windowStart : a.key < b.key ? -1 : 1));
  const counters: Counters = new Map();
  for (const counter of all) {
    const id = idOf(counter);
    const known = counters.get(id);
    if (known === undefined) counters.set(id, counter);
    else known.keepFor ??= counter.keepFor;
  }
  return counters;
}

async function selectRows(database: Database, counters: Counters, lock: boolean): Promise<readonly ColumnRow[]> {
  const { rows } = await sql<ColumnRow>`
    select key, window_start, used from limit_counters where (key, window_start) in (${pairs([...counters.values()])})
    order by key, window_start ${sql.raw(lock ? 'for update' : '')}`.execute(database);
  return rows;
}

/** Reads the values of the rows; returns the counters without a row. */
function fill(counters: Counters, rows: readonly ColumnRow[]): readonly Counter[] {
  const missing = new Set(counters.values());
  for (const row of rows) {
    const counter = counters.get(`${row['key']}\n${row['window_start']}`);
    if (counter === undefined) continue;
    counter.used = Number(row['used']);
    missing.delete(counter);
  }
  return [...missing];
}

function grant(request: LeaseRequest, counters: Counters): Lease {
  const used = request.windows.map((window) => counterAt(counters, window.key, window.windowStart));
  const before = request.windows.map(({ key, previous }) =>
    previous === null ? 0 : counterAt(counters, key, previous.windowStart).used,
  );
  const lease = grantLease(
    request,
    used.map((counter) => counter.used),
    before,
  );
  for (const [at, counter] of used.entries()) {
    const units = lease.taken[at] ?? 0;
    counter.used += units;
    counter.changed ||= units !== 0;
  }
  return lease;
}

/** The rows are there, and locked. */
async function writeRows(database: Database, counters: Counters): Promise<void> {
  const rows = [...counters.values()]
    .filter((counter) => counter.changed)
    .map(({ key, windowStart, used }) => ({ key, window_start: windowStart, used, expires_at: 0 }));
  for (const some of chunks(rows)) {
    await database
      .insertInto('limit_counters')
      .values(some)
      .onConflict((conflict) =>
        conflict.columns(['key', 'window_start']).doUpdateSet((eb) => ({ used: eb.ref('excluded.used') })),
      )
      .execute();
  }
}

async function makeRows({ counters: database, types }: SqlBackend, counters: Counters): Promise<void> {
  const rows = [...counters.values()].flatMap(({ key, windowStart, keepFor }) =>
    keepFor === null
      ? []
      : [sql`(${key}, ${windowStart}, 0, ${sql.raw(types.now)} + cast(${Math.ceil(keepFor)} as bigint))`],
  );
  await database.transaction().execute(async (transaction) => {
    for (const some of chunks(rows)) {
      await sql`insert into limit_counters (key, window_start, used, expires_at) values ${sql.join(some)}
        on conflict (key, window_start) do nothing`.execute(transaction);
    }
  });
}

function counterAt(counters: Counters, key: string, windowStart: number): Counter {
  const counter = counters.get(idOf({ key, windowStart }));
  if (counter === undefined) throw new Error('every counter of a batch is looked up beforehand');
  return counter;
}

/** Rows to compare `(key, window_start)` with; PostgreSQL reads the numbers as text without a cast. */
function pairs(counters: readonly CounterId[]) {
  const rows = counters.map(({ key, windowStart }) => sql`(${key}, cast(${windowStart} as bigint))`);
  return sql`values ${sql.join(rows)}`;
}

function idOf({ key, windowStart }: CounterId): string {
  return `${key}\n${windowStart}`;
}
