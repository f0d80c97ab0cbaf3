import { type RawBuilder, sql } from 'kysely';
import type { Row } from '../../../../shared/entities/entity.ts';
import type { ListQuery } from '../../store.ts';
import type { ColumnRow, Database } from '../sql-backend.ts';
import { compilable, run } from '../statements.ts';
import { columnOf, type EntityTable, toRow } from './entity-table.ts';

type Condition = RawBuilder<unknown>;

/**
 * One page. Positions are compared as row values, which both databases answer from the index on `(created_at, id)`, so
 * the cost of a page is that of its rows, wherever in the list it is.
 */
export async function listRows(database: Database, table: EntityTable, query: ListQuery): Promise<readonly Row[]> {
  if (query.tags !== undefined && query.tags.names.length === 0) return [];
  const rows = await selectRows(database, table, query);
  return rows.map((columns) => toRow(table, columns));
}

async function selectRows(database: Database, table: EntityTable, query: ListQuery): Promise<readonly ColumnRow[]> {
  if (query.tags !== undefined) {
    const tags = await orderTags(database, table, query.tags);
    return (await selectTaggedPage(table, query, query.tags.all, tags).execute(database)).rows;
  }
  const now = Date.now();
  const wanted = Object.entries(query.where ?? {});
  if (wanted.some(([, value]) => Array.isArray(value))) {
    return (await selectPage(table, query, now).execute(database)).rows;
  }
  const { after, createdBefore, order = 'asc' } = query;
  const fields = wanted.map(([field, value]) => (value === null ? `${field} null` : field)).join();
  return await run(database, {
    key: [
      `page ${table.name} ${order} ${fields}`,
      after === undefined ? '' : 'after',
      createdBefore === undefined ? '' : 'before',
      isOne(query) ? 'one' : '',
    ].join(' '),
    parameters: [
      ...wanted.flatMap(([, value]) => (typeof value === 'string' ? [value] : [])),
      ...(table.expires ? [now] : []),
      ...(after === undefined ? [] : [after.createdAt, after.id]),
      ...(createdBefore === undefined ? [] : [createdBefore]),
      ...(isOne(query) ? [] : [query.limit, query.skip ?? 0]),
    ],
    build: () => compilable(database, selectPage(table, query, now)),
  });
}

function selectPage(table: EntityTable, query: ListQuery, now: number): RawBuilder<ColumnRow> {
  const conditions = [...fieldConditions(table, query, now), ...positionConditions(query, 'e', 'id')];
  const limit = isOne(query) ? sql`limit 1` : sql`limit ${query.limit} offset ${query.skip ?? 0}`;
  return sql<ColumnRow>`select e.* from ${sql.table(table.name)} as e ${where(conditions)}
    order by ${ordering(query, 'e', 'id')} ${limit}`;
}

/** Asked for in every write. SQLite plans a statement again for each value of a limit, so this one is in the text. */
function isOne({ limit, skip = 0 }: ListQuery): boolean {
  return limit === 1 && skip === 0;
}

/**
 * Driven by `entity_tags`, which repeats `created_at` so that its index yields the rows of one tag in list order: neither a
 * rare tag among many rows nor a tag that every row has makes the page more expensive. For "any", each tag gives its own first rows,
 * and their union is cut again.
 */
function selectTaggedPage(
  table: EntityTable,
  query: ListQuery,
  all: boolean,
  names: readonly string[],
): RawBuilder<ColumnRow> {
  const driving = all ? names.slice(0, 1) : names;
  const alsoNeeded = all ? names.slice(1) : [];
  const skip = query.skip ?? 0;
  const branches = driving.map((name) => {
    const conditions = [
      sql`t.tag = ${name} and t.entity = ${table.name}`,
      ...alsoNeeded.map(
        (other) =>
          sql`exists (select 1 from ${sql.table('entity_tags')} as o
            where o.entity = t.entity and o.entity_id = t.entity_id and o.tag = ${other})`,
      ),
      ...fieldConditions(table, query, Date.now()),
      ...positionConditions(query, 't', 'entity_id'),
    ];
    return sql`select * from (
      select t.created_at, t.entity_id from ${sql.table('entity_tags')} as t
      inner join ${sql.table(table.name)} as e on e.id = t.entity_id ${where(conditions)}
      order by ${ordering(query, 't', 'entity_id')} limit ${skip + query.limit}) as branch`;
  });
  return sql<ColumnRow>`select e.* from (
      select * from (${sql.join(branches, sql` union `)}) as matching
      order by ${ordering(query, 'matching', 'entity_id')} limit ${query.limit} offset ${skip}) as page
    inner join ${sql.table(table.name)} as e on e.id = page.entity_id
    order by ${ordering(query, 'page', 'entity_id')}`;
}

/** Maximum count of the rows of a tag: beyond it, all tags count as equally common. */
const countedTags = 1000;

/** The rarest tag comes first: rows with several tags are searched among the rows of that tag. */
async function orderTags(
  database: Database,
  table: EntityTable,
  tags: NonNullable<ListQuery['tags']>,
): Promise<readonly string[]> {
  const distinct = [...new Set(tags.names)];
  if (!tags.all || distinct.length < 2) return distinct;
  const counts = distinct.map(
    (name, i) => sql`(select count(*) from (
      select 1 from ${sql.table('entity_tags')} where tag = ${name} and entity = ${table.name} limit ${countedTags}
    ) as counted) as ${sql.ref(`c${i}`)}`,
  );
  const { rows } = await sql<ColumnRow>`select ${sql.join(counts)}`.execute(database);
  const count = new Map(distinct.map((name, i) => [name, Number(rows[0]?.[`c${i}`])]));
  return distinct.sort((a, b) => (count.get(a) ?? 0) - (count.get(b) ?? 0));
}

function fieldConditions(table: EntityTable, query: ListQuery, now: number): Condition[] {
  const conditions = Object.entries(query.where ?? {}).map(([field, value]) => {
    const column = sql.ref(`e.${columnOf(table, field)}`);
    if (value === null) return sql`${column} is null`;
    if (typeof value === 'string') return sql`${column} = ${value}`;
    return value.length === 0 ? sql`1 = 0` : sql`${column} in (${sql.join(value)})`;
  });
  if (table.expires) conditions.push(sql`(e.expires_at is null or e.expires_at > ${now})`);
  return conditions;
}

function positionConditions(query: ListQuery, alias: string, idColumn: string): Condition[] {
  const conditions: Condition[] = [];
  const createdAt = sql.ref(`${alias}.created_at`);
  if (query.after !== undefined) {
    const comparison = query.order === 'desc' ? sql`<` : sql`>`;
    const place = sql`(${createdAt}, ${sql.ref(`${alias}.${idColumn}`)})`;
    conditions.push(sql`${place} ${comparison} (${query.after.createdAt}, ${query.after.id})`);
  }
  if (query.createdBefore !== undefined) conditions.push(sql`${createdAt} < ${query.createdBefore}`);
  return conditions;
}

function ordering(query: ListQuery, alias: string, idColumn: string): RawBuilder<unknown> {
  const direction = query.order === 'desc' ? sql`desc` : sql`asc`;
  return sql`${sql.ref(`${alias}.created_at`)} ${direction}, ${sql.ref(`${alias}.${idColumn}`)} ${direction}`;
}

function where(conditions: readonly Condition[]): RawBuilder<unknown> {
  return conditions.length === 0 ? sql`` : sql`where ${sql.join(conditions, sql` and `)}`;
}
