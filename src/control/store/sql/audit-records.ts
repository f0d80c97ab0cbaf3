import { type RawBuilder, sql } from 'kysely';
import type { AuditQuery, AuditRecord } from '../audit.ts';
import type { ColumnRow, Database, SqlBackend, SqlTransaction } from './sql-backend.ts';
import { insertRows } from './statements.ts';
import { isStorableText } from './storable-text.ts';

const table = 'audit_records';

/** Maximum records that one statement removes: writers must not wait long for it. */
const removedAtOnce = 1000;

const columnOf = {
  actor: 'actor',
  method: 'method',
  entity: 'entity',
  entityId: 'entity_id',
  requestId: 'request_id',
} as const;

const columnNames = ['id', 'created_at', 'actor', 'method', 'entity', 'entity_id', 'request_id', 'body'];

/** `breathe` is awaited before each statement. */
export async function insertAudit(
  transaction: SqlTransaction,
  records: readonly AuditRecord[],
  breathe: () => Promise<void>,
): Promise<void> {
  await insertRows(transaction, table, columnNames, records.map(toColumns), { breathe });
}

export async function listAudit(database: Database, query: AuditQuery): Promise<readonly AuditRecord[]> {
  if (!Object.values(query.where ?? {}).every(isStorableText)) return [];
  const { rows } = await sql<ColumnRow>`select * from ${sql.table(table)} ${where(conditionsOf(query))}
    order by ${ordering(query)} limit ${query.limit} offset ${query.skip ?? 0}`.execute(database);
  return rows.map(toRecord);
}

export async function getAudit(database: Database, id: string): Promise<AuditRecord | null> {
  if (!isStorableText(id)) return null;
  const row = await database.selectFrom(table).selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined ? null : toRecord(row);
}

/** Returns how many there were. */
export async function deleteAudit({ counters, kind }: SqlBackend, before: number): Promise<number> {
  const old = sql`created_at < ${before}`;
  const { rows: some } = await sql`select 1 from audit_records where ${old} limit 1`.execute(counters);
  if (some.length === 0) return 0;
  return await counters.transaction().execute(async (transaction) => {
    const { rows } = await sql<ColumnRow>`
      delete from audit_records where id in (
        select id from audit_records where ${old} order by created_at, id
        limit ${removedAtOnce} ${sql.raw(kind === 'postgres' ? 'for update skip locked' : '')})
      returning id`.execute(transaction);
    return rows.length;
  });
}

type Condition = RawBuilder<unknown>;

function conditionsOf({ where: wanted = {}, since, after, createdBefore, order }: AuditQuery): readonly Condition[] {
  const conditions: Condition[] = Object.entries(wanted).map(
    ([field, value]) => sql`${sql.ref(columnOf[field as keyof typeof columnOf])} = ${value}`,
  );
  if (since !== undefined) conditions.push(sql`created_at >= ${since}`);
  if (createdBefore !== undefined) conditions.push(sql`created_at < ${createdBefore}`);
  if (after !== undefined) {
    conditions.push(sql`(created_at, id) ${order === 'desc' ? sql`<` : sql`>`} (${after.createdAt}, ${after.id})`);
  }
  return conditions;
}

function ordering({ order }: AuditQuery): Condition {
  return order === 'desc' ? sql`created_at desc, id desc` : sql`created_at, id`;
}

function where(conditions: readonly Condition[]): Condition {
  return conditions.length === 0 ? sql`` : sql`where ${sql.join(conditions, sql` and `)}`;
}

function toColumns(record: AuditRecord): ColumnRow {
  return {
    id: record.id,
    created_at: record.createdAt,
    actor: record.actor,
    method: record.method,
    entity: record.entity,
    entity_id: record.entityId,
    request_id: record.requestId,
    body: JSON.stringify(record.body),
  };
}

function toRecord(columns: ColumnRow): AuditRecord {
  const text = (name: string): string | null => {
    const value = columns[name];
    return value === null || value === undefined ? null : String(value);
  };
  return {
    id: text('id') ?? '',
    createdAt: Number(columns['created_at']),
    actor: text('actor') ?? '',
    method: text('method') ?? '',
    entity: text('entity'),
    entityId: text('entity_id'),
    requestId: text('request_id') ?? '',
    body: JSON.parse(text('body') ?? '{}'),
  };
}
