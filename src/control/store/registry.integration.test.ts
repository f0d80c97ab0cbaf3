import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import type { Row } from '../../shared/entities/entity.ts';
import type { PluginDescription } from '../../shared/entities/plugin-catalog.ts';
import { createEntityRegistry } from '../../shared/entities/registry.ts';
import { buildRow } from '../../shared/entities/rows.ts';
import { record } from '../../shared/schema/record.ts';
import { assertStoreError, deleteRow } from './contract/store-bench.ts';
import { createStore } from './create-store.ts';
import type { Store } from './store.ts';

const plugin: PluginDescription = {
  config: record({}),
  protocols: ['http', 'https'],
  defaultProtocols: ['http', 'https'],
  scopes: ['service', 'route', 'consumer'],
};
const registry = createEntityRegistry({ names: () => ['test'], describe: (name) => (name === 'test' ? plugin : null) });
const directory = mkdtempSync(join(tmpdir(), 'sluicegate-registry-'));
after(() => rmSync(directory, { recursive: true, force: true }));

let files = 0;
let store: Store;
beforeEach(async () => {
  files += 1;
  const file = join(directory, `${files}.db`);
  store = await createStore({ kind: 'sqlite', file, definitions: registry.definitions });
  await store.migrate();
});
afterEach(() => store.close());

async function create(entity: string, body: Readonly<Record<string, unknown>>): Promise<Row> {
  const definition = registry.byName(entity);
  assert.ok(definition);
  const { result } = await store.write(async (writer) => {
    const built = buildRow(definition, body, { now: writer.now });
    assert.ok(built.ok, JSON.stringify(built));
    const stored = await writer.insert(entity, built.row);
    assert.deepEqual(stored, built.row);
    return stored;
  });
  assert.deepEqual(await store.get(entity, result.id), result);
  return result;
}

const ref = (row: Row): { id: string } => ({ id: row.id });

describe('the entities of the gateway', () => {
  it('are read from the store as they were validated', async () => {
    const service = await create('services', { name: 'users', host: '127.0.0.1', tags: ['a'] });
    await create('routes', { name: 'users', paths: ['/users'], headers: { 'x-a': ['b'] }, service: ref(service) });
    const consumer = await create('consumers', { username: 'bob', custom_id: '1' });
    await create('plugins', { name: 'test', service: ref(service), consumer: ref(consumer) });
    const upstream = await create('upstreams', { name: 'backends' });
    await create('targets', { target: '127.0.0.1:9001', upstream: ref(upstream) });
    const { entities } = await store.dump(registry.definitions.map((definition) => definition.name));
    const counts = Object.values(entities).map((rows) => rows.length);
    assert.equal(
      counts.reduce((a, b) => a + b, 0),
      6,
    );
  });

  it('keep the rules for unique fields', async () => {
    const upstream = await create('upstreams', { name: 'backends' });
    await create('targets', { target: '127.0.0.1:9001', upstream: ref(upstream) });
    const other = await create('upstreams', { name: 'others' });
    await create('targets', { target: '127.0.0.1:9001', upstream: ref(other) });
    await assertStoreError(create('targets', { target: '127.0.0.1:9001', upstream: ref(upstream) }), {
      kind: 'unique',
      entity: 'targets',
      fields: { upstream: ref(upstream), target: '127.0.0.1:9001' },
    });
    await create('plugins', { name: 'test' });
    await assertStoreError(create('plugins', { name: 'test' }), {
      kind: 'unique',
      entity: 'plugins',
      fields: { name: 'test', route: null, service: null, consumer: null },
    });
  });

  it('keep the rules for cascading deletes', async () => {
    const service = await create('services', { name: 'users', host: '127.0.0.1' });
    const route = await create('routes', { paths: ['/users'], service: ref(service) });
    await create('plugins', { name: 'test', service: ref(service) });
    await create('plugins', { name: 'test', route: ref(route) });
    await assertStoreError(deleteRow(store, 'services', service.id), {
      kind: 'referenced',
      entity: 'services',
      by: 'routes',
    });
    await deleteRow(store, 'routes', route.id);
    assert.equal(await store.count('plugins'), 1);
    await deleteRow(store, 'services', service.id);
    assert.equal(await store.count('plugins'), 0);
  });
});
