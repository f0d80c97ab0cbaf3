import assert from 'node:assert/strict';
import pg from 'pg';
import type { DatabasePlace } from '../support/postgres.ts';

/** Runs `work` with a connection to the schema of a store. */
export async function withStoreConnection<T>(
  place: DatabasePlace,
  schema: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const { host, port, user, password, database } = place;
  const client = new pg.Client({ host, port, user, password, database });
  await client.connect();
  try {
    await client.query(`set search_path to ${pg.escapeIdentifier(schema)}`);
    return await work(client);
  } finally {
    await client.end();
  }
}

/** References by entity: column and the entity that it refers to. */
const references: readonly (readonly [string, string, string])[] = [
  ['routes', 'service_id', 'services'],
  ['plugins', 'service_id', 'services'],
  ['plugins', 'route_id', 'routes'],
  ['plugins', 'consumer_id', 'consumers'],
];

const entities = ['services', 'routes', 'plugins', 'consumers'];

/** Asserts what must hold whatever was written: references, unique names, tags, and a log of changes that agrees with the rows. */
export async function assertConsistent(place: DatabasePlace, schema: string): Promise<void> {
  await withStoreConnection(place, schema, async (client) => {
    const count = async (text: string): Promise<number> => Number((await client.query(text)).rows[0].n);
    for (const [entity, column, parent] of references) {
      const orphans = `select count(*) as n from ${entity} where ${column} is not null and ${column} not in (select id from ${parent})`;
      assert.equal(await count(orphans), 0, `${entity}.${column}`);
    }
    for (const entity of ['services', 'routes']) {
      const twice = `select count(*) as n from (select name from ${entity} where name is not null group by name having count(*) > 1) as t`;
      assert.equal(await count(twice), 0, `names of ${entity}`);
    }
    for (const entity of entities) {
      const stray = `select count(*) as n from entity_tags where entity = '${entity}' and entity_id not in (select id from ${entity})`;
      assert.equal(await count(stray), 0, `tags of ${entity}`);
      // The last change of each row says whether it is there.
      const wrong = `select count(*) as n from
        (select distinct on (entity_id) entity_id, operation from changes where entity = '${entity}' order by entity_id, version desc) as c
        full join ${entity} as e on e.id = c.entity_id
        where (c.operation = 'upsert') is distinct from (e.id is not null)`;
      assert.equal(await count(wrong), 0, `changes of ${entity}`);
    }
    const { rows } = await client.query('select version, previous from changes order by version');
    rows.forEach((row, i) => {
      assert.equal(Number(row.version), Number(rows[0].version) + i, 'versions have no gap');
    });
    assert.equal(await count('select version as n from store_version'), Number(rows.at(-1)?.version ?? 0));
  });
}
