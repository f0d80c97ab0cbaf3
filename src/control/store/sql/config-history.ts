import { type RawBuilder, sql } from 'kysely';
import type { Row } from '../../../shared/entities/entity.ts';
import type { RowChange } from '../audit.ts';
import type { Attribution, ConfigVersion, RowSince, VersionAction, VersionChange, VersionQuery } from '../history.ts';
import { chunks } from './chunks.ts';
import { type EntityTable, type EntityTables, toRow } from './rows/entity-table.ts';
import type { ColumnRow, Database, SqlBackend, SqlTransaction } from './sql-backend.ts';
import { insertRows } from './statements.ts';

const table = 'config_history';

/** Greatest value of the column `seq`. */
const maxSeq = 2 ** 31 - 1;

/** Maximum rows that one transaction removes, and that one statement reads. */
const atOnce = 1000;

export interface RecordedVersion {
  readonly version: number;
  readonly now: number;
  readonly attribution: Attribution;
}

/** Stores what a write has changed as a version. Nothing when it has changed no config. */
export async function recordVersion(
  transaction: SqlTransaction,
  tables: EntityTables,
  changes: readonly RowChange[],
  { version, now, attribution }: RecordedVersion,
  breathe: () => Promise<void>,
): Promise<void> {
  const folded = foldChanges(tables, changes);
  if (folded.length === 0) return;
  const count = (operation: VersionChange['operation']): number =>
    folded.reduce((sum, change) => (change.operation === operation ? sum + 1 : sum), 0);
  const lines = folded.map(({ operation, entity, id, before }, seq) => {
    const first = seq === 0;
    return {
      version,
      seq,
      created_at: now,
      actor: first ? attribution.actor : null,
      action: first ? attribution.action : null,
      note: first ? (attribution.note ?? null) : null,
      created: first ? count('create') : null,
      updated: first ? count('update') : null,
      deleted: first ? count('delete') : null,
      entity,
      row_id: id,
      operation,
      before: before === null ? null : JSON.stringify(before),
    };
  });
  // After a restore without this table, versions can be assigned again.
  await insertRows(transaction, table, columns, lines, { breathe, replacing: ['version', 'seq'] });
}

const columns = [
  'version',
  'seq',
  'created_at',
  'actor',
  'action',
  'note',
  'created',
  'updated',
  'deleted',
  'entity',
  'row_id',
  'operation',
  'before',
];

type Folded = Pick<VersionChange, 'operation' | 'entity' | 'id' | 'before'>;

/** Each row once, however often the write has changed it. What expires is no longer config before it is removed. */
function foldChanges(tables: EntityTables, changes: readonly RowChange[]): readonly Folded[] {
  const rows = new Map<string, { readonly first: RowChange; last: RowChange }>();
  for (const change of changes) {
    if (change.cause === 'expired' || tables.get(change.entity)?.inConfig !== true) continue;
    const key = `${change.entity}/${change.id}`;
    const known = rows.get(key);
    if (known === undefined) rows.set(key, { first: change, last: change });
    else known.last = change;
  }
  const folded: Folded[] = [];
  for (const { first, last } of rows.values()) {
    const { entity, id, before } = first;
    const gone = last.operation === 'delete';
    if (before === null && gone) continue;
    folded.push({ entity, id, before, operation: gone ? 'delete' : before === null ? 'create' : 'update' });
  }
  return folded;
}

export async function listVersions(database: Database, query: VersionQuery): Promise<readonly ConfigVersion[]> {
  const { after, createdBefore, order, actor, entity, id, since } = query;
  const conditions: RawBuilder<unknown>[] = [sql`seq = 0`];
  // Each write has its own timestamp, which ascends with the version.
  if (after !== undefined) conditions.push(sql`created_at ${order === 'desc' ? sql`<` : sql`>`} ${after.createdAt}`);
  if (createdBefore !== undefined) conditions.push(sql`created_at < ${createdBefore}`);
  if (actor !== undefined) conditions.push(sql`actor = ${actor}`);
  if (since !== undefined) conditions.push(sql`created_at >= ${since}`);
  if (id !== undefined) conditions.push(sql`version in (${versionsOf(sql`row_id = ${id}`, entity)})`);
  else if (entity !== undefined) conditions.push(sql`version in (${versionsOf(sql`version is not null`, entity)})`);
  const { rows } = await sql<ColumnRow>`select * from ${sql.table(table)} where ${sql.join(conditions, sql` and `)}
    order by version ${order === 'desc' ? sql`desc` : sql``} limit ${query.limit} offset ${query.skip ?? 0}`.execute(
    database,
  );
  return rows.map(toVersion);
}

function versionsOf(condition: RawBuilder<unknown>, entity: string | undefined): RawBuilder<unknown> {
  const kind = entity === undefined ? sql`` : sql` and entity = ${entity}`;
  return sql`select version from ${sql.table(table)} where ${condition}${kind}`;
}

export async function getVersion(database: Database, version: number): Promise<ConfigVersion | null> {
  if (!Number.isSafeInteger(version)) return null;
  const row = await database
    .selectFrom(table)
    .selectAll()
    .where('version', '=', version)
    .where('seq', '=', 0)
    .executeTakeFirst();
  return row === undefined ? null : toVersion(row);
}

export async function listVersionChanges(
  database: Database,
  tables: EntityTables,
  version: number,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<readonly VersionChange[]> {
  const lines = await database
    .selectFrom(table)
    .selectAll()
    .where('version', '=', version)
    .where('seq', '>', after)
    .where('entity', 'is not', null)
    .orderBy('seq')
    .limit(limit)
    .execute();
  const changes: VersionChange[] = [];
  for (const line of lines) {
    const operation = String(line['operation']) as VersionChange['operation'];
    const entity = String(line['entity']);
    const id = String(line['row_id']);
    const next = operation === 'delete' ? null : await rowAfter(database, tables, version, entity, id);
    changes.push({ seq: Number(line['seq']), operation, entity, id, before: rowOf(line), after: next });
  }
  return changes;
}

/** The row as the next version that changed it found it; the current one when there is none. */
async function rowAfter(
  database: Database,
  tables: EntityTables,
  version: number,
  entity: string,
  id: string,
): Promise<Row | null> {
  const later = await database
    .selectFrom(table)
    .select('before')
    .where('row_id', '=', id)
    .where('version', '>', version)
    .where('entity', '=', entity)
    .orderBy('version')
    .limit(1)
    .executeTakeFirst();
  if (later !== undefined) return rowOf(later);
  const known = tables.get(entity);
  if (known === undefined) return null;
  const columns = await database.selectFrom(known.name).selectAll().where('id', '=', id).executeTakeFirst();
  return columns === undefined ? null : toRow(known, columns);
}

/** Every row that was changed after a version, as it was in it and as it is. Entities that are no longer known are left out. */
export async function rowsSince(
  transaction: SqlTransaction,
  tables: EntityTables,
  version: number,
  breathe: () => Promise<void>,
): Promise<readonly RowSince[]> {
  const then = new Map<EntityTable, Map<string, Row | null>>();
  let [lastVersion, lastSeq] = [version, maxSeq];
  for (;;) {
    await breathe();
    const { rows: lines } = await sql<ColumnRow>`
      select version, seq, entity, row_id, before from ${sql.table(table)}
      where (version, seq) > (${lastVersion}, ${lastSeq}) order by version, seq limit ${atOnce}`.execute(transaction);
    for (const line of lines) {
      const known = tables.get(String(line['entity']));
      if (line['entity'] === null || known === undefined) continue;
      const rows = then.get(known) ?? new Map<string, Row | null>();
      if (rows.size === 0) then.set(known, rows);
      const id = String(line['row_id']);
      if (!rows.has(id)) rows.set(id, rowOf(line));
    }
    const last = lines.at(-1);
    if (last === undefined || lines.length < atOnce) break;
    [lastVersion, lastSeq] = [Number(last['version']), Number(last['seq'])];
  }
  const since: RowSince[] = [];
  for (const [known, rows] of then) {
    const now = new Map<string, Row>();
    for (const ids of chunks([...rows.keys()])) {
      await breathe();
      const found = await transaction.selectFrom(known.name).selectAll().where('id', 'in', ids).execute();
      for (const columns of found) now.set(String(columns['id']), toRow(known, columns));
    }
    for (const [id, row] of rows) since.push({ entity: known.name, id, was: row, now: now.get(id) ?? null });
  }
  return since;
}

/** See `HistoryStore`. Both reads are of one instant. */
export async function rowsBetween(
  transaction: SqlTransaction,
  tables: EntityTables,
  { from, to }: { readonly from: number; readonly to: number | null },
  breathe: () => Promise<void>,
): Promise<readonly RowSince[]> {
  const sinceFrom = await rowsSince(transaction, tables, from, breathe);
  if (to === null) return sinceFrom;
  const keyOf = ({ entity, id }: RowSince): string => `${entity}/${id}`;
  const sinceTo = new Map((await rowsSince(transaction, tables, to, breathe)).map((row) => [keyOf(row), row]));
  const between: RowSince[] = [];
  for (const row of sinceFrom) {
    const later = sinceTo.get(keyOf(row));
    sinceTo.delete(keyOf(row));
    between.push({ ...row, now: later === undefined ? row.now : later.was });
  }
  // What has not changed since `from` is as it is now.
  for (const { entity, id, was, now } of sinceTo.values()) between.push({ entity, id, was: now, now: was });
  return between;
}

/** Takes the writers' lock: a rollback must find all versions after its own. */
export async function trimHistory(
  { write, lockHead }: SqlBackend,
  read: Database,
  limits: { readonly keep: number; readonly before: number },
): Promise<number> {
  const oldest = await oldestKept(read, limits);
  if (!(await hasRest(read, oldest))) return 0;
  return await write.transaction().execute(async (transaction) => {
    const head = await lockHead(transaction);
    const { rows: unknown } = await sql<ColumnRow>`
      delete from ${sql.table(table)} where version > ${head.version} returning version`.execute(transaction);
    if (oldest === null) return unknown.length;
    const { rows } = await sql<ColumnRow>`
      delete from ${sql.table(table)} where (version, seq) in (
        select version, seq from ${sql.table(table)}
        where version < ${oldest} or (version = ${oldest} and seq > 0)
        order by version, seq limit ${atOnce})
      returning version`.execute(transaction);
    if (rows.length === atOnce) return rows.length;
    // What remains of the oldest version is who made it: its rows would lead to a version that is gone.
    await transaction
      .updateTable(table)
      .set({ entity: null, row_id: null, operation: null, before: null })
      .where('version', '=', oldest)
      .where('seq', '=', 0)
      .execute();
    return Math.max(rows.length + unknown.length, 1);
  });
}

/** The version that becomes the oldest one; null: there is none. */
async function oldestKept(
  database: Database,
  { keep, before }: { readonly keep: number; readonly before: number },
): Promise<number | null> {
  const { rows } = await sql<ColumnRow>`select max(version) as version from (
      select version from ${sql.table(table)} where seq = 0 and created_at < ${before}
      union all
      select version from (
        select version from ${sql.table(table)} where seq = 0 order by version desc limit 1 offset ${Math.max(keep, 1) - 1}
      ) as counted
    ) as bounds`.execute(database);
  const version = rows[0]?.['version'];
  return version === null || version === undefined ? null : Number(version);
}

/** There is something to remove: older versions, or, after a restore without this table, versions that the store never had. */
async function hasRest(database: Database, oldest: number | null): Promise<boolean> {
  const { rows } = await sql`select 1 from ${sql.table(table)}
    where version < ${oldest ?? -1} or (version = ${oldest ?? -1} and row_id is not null)
      or version > (select version from store_version) limit 1`.execute(database);
  return rows.length > 0;
}

function rowOf(line: ColumnRow): Row | null {
  const { before } = line;
  return before === null || before === undefined ? null : (JSON.parse(String(before)) as Row);
}

function toVersion(line: ColumnRow): ConfigVersion {
  const note = line['note'];
  return {
    version: Number(line['version']),
    createdAt: Number(line['created_at']),
    actor: String(line['actor'] ?? ''),
    action: String(line['action']) as VersionAction,
    note: note === null || note === undefined ? null : String(note),
    created: Number(line['created']),
    updated: Number(line['updated']),
    deleted: Number(line['deleted']),
  };
}
