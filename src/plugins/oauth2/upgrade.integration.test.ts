import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { postgresSettings, skipWithoutPostgres, startPostgres } from '../../../test/support/postgres.ts';
import { createStore, type StoreOptions } from '../../control/store/create-store.ts';
import { type Store, StoreError } from '../../control/store/store.ts';
import type { EntityDefinition, Row } from '../../shared/entities/entity.ts';
import { createEntityRegistry } from '../../shared/entities/registry.ts';
import { entities } from './entities.ts';

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluicegate-oauth2-upgrade-'));
});
after(() => rm(folder, { recursive: true, force: true }));

const gateway = createEntityRegistry({ names: () => [], describe: () => null }).definitions;
const current = [...gateway, ...entities];
/** The entities before tokens had families. */
const earlier = [...gateway, ...entities.filter(({ name }) => name !== 'oauth2_families').map(withoutFamily)];

function withoutFamily(definition: EntityDefinition): EntityDefinition {
  const { family: _family, ...foreign } = definition.foreign;
  return { ...definition, foreign };
}

async function insert(store: Store, entity: string, fields: Readonly<Record<string, unknown>>): Promise<Row> {
  const row = { id: randomUUID(), created_at: Date.now(), tags: null, ...fields };
  return (await store.write((writer) => writer.insert(entity, row))).result;
}

async function upgrade(place: (definitions: readonly EntityDefinition[]) => StoreOptions): Promise<void> {
  const open = async (definitions: readonly EntityDefinition[]): Promise<Store> => {
    const store = await createStore(place(definitions));
    await store.migrate();
    return store;
  };
  const before = await open(earlier);
  const consumer = await insert(before, 'consumers', { username: 'ada', custom_id: null });
  const fields = { consumer: { id: consumer.id }, name: 'app', client_id: 'app', client_type: 'public' };
  const credential = await insert(before, 'oauth2_credentials', fields);
  const owner = { credential: { id: credential.id }, service: null };
  const old = await insert(before, 'oauth2_tokens', { ...owner, access_token: 'a', refresh_token: 'r' });
  await before.close();

  const store = await open(current);
  try {
    const kept = await store.findBy('oauth2_tokens', 'refresh_token', 'r');
    assert.deepEqual([kept?.id, kept?.['family'] ?? null], [old.id, null]);
    const family = await insert(store, 'oauth2_families', owner);
    const joined = { ...owner, family: { id: family.id } };
    await insert(store, 'oauth2_tokens', { ...joined, access_token: 'b', refresh_token: 's' });
    await insert(store, 'oauth2_authorization_codes', { ...joined, plugin: null, code: 'c' });
    await store.write((writer) => writer.delete('oauth2_families', family.id));
    assert.equal(await store.findBy('oauth2_tokens', 'access_token', 'b'), null);
    assert.equal(await store.findBy('oauth2_authorization_codes', 'code', 'c'), null);
    const late = insert(store, 'oauth2_tokens', { ...joined, access_token: 'd', refresh_token: 't' });
    await assert.rejects(late, StoreError, 'nothing joins a family that was revoked');
    assert.equal((await store.findBy('oauth2_tokens', 'access_token', 'a'))?.id, old.id);
  } finally {
    await store.close();
  }
}

test('a SQLite store of an earlier version gets token families, and keeps its tokens', async () => {
  await upgrade((definitions) => ({ kind: 'sqlite', file: join(folder, 'store.sqlite'), definitions }));
});

test('a PostgreSQL store of an earlier version gets token families, and keeps its tokens', {
  skip: skipWithoutPostgres(),
}, async () => {
  const postgres = await startPostgres();
  try {
    const pg = postgresSettings(postgres, 5000);
    await upgrade((definitions) => ({ kind: 'postgres', pg, definitions }));
  } finally {
    await postgres.stop();
  }
});
