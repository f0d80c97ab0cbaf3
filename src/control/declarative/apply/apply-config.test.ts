import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { until } from '../../../../test/support/until.ts';
import type { Row } from '../../../shared/entities/entity.ts';
import { testRegistry } from '../../../shared/entities/registry.fixture.ts';
import { createStore } from '../../store/create-store.ts';
import type { Store } from '../../store/store.ts';
import type { ConfigRows } from '../contract.ts';
import { type AppliedConfig, type ApplyRequest, applyConfig } from './apply-config.ts';

const directory = mkdtempSync(join(tmpdir(), 'sluicegate-apply-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const entities = testRegistry();

let files = 0;

async function openStore(t: { after(end: () => Promise<void>): void }): Promise<Store> {
  files++;
  const file = join(directory, `${files}.db`);
  const store = await createStore({ kind: 'sqlite', file, definitions: entities.definitions });
  t.after(() => store.close());
  await store.migrate();
  return store;
}

function row(fields: Readonly<Record<string, unknown>>): Row {
  return { id: randomUUID(), created_at: 1000, ...fields };
}

function service(name: string, fields: Readonly<Record<string, unknown>> = {}): Row {
  return row({ name, host: `${name}.test`, protocol: 'http', port: 80, tags: null, ...fields });
}

const apply = (store: Store, rows: ConfigRows, request: Partial<ApplyRequest> = {}): Promise<AppliedConfig> =>
  applyConfig(
    { store, publisher: null, entities },
    { declare: async () => ({ hash: 'h', rows, problems: [] }), ...request },
  );

const summary = ({ plan }: AppliedConfig): readonly string[] =>
  plan.changes.map(({ operation, entity, label, fields }) => [operation, entity, label, ...fields].join(' '));

const names = async (store: Store): Promise<readonly unknown[]> =>
  (await store.list('services', { limit: 100 })).map(({ name }) => name).sort();

test('makes the rows those of the document, and names each difference', async (t) => {
  const store = await openStore(t);
  const [a, b] = [service('a'), service('b')];
  const plugin = row({ name: 'limiter', service: { id: a.id }, config: { minute: 5, policy: 'local' }, tags: null });
  const first = await apply(store, { services: [a, b], plugins: [plugin] });
  assert.deepEqual(summary(first), ['create services a', 'create services b', 'create plugins limiter of service a']);
  assert.equal(first.version, await store.version());

  const stored = await store.get('plugins', plugin.id);
  assert.ok(stored);
  const next = { ...stored, config: { minute: 6, policy: 'local' } };
  const second = await apply(store, { services: [a, service('c')], plugins: [next] });
  assert.deepEqual(summary(second), [
    'create services c',
    'update plugins limiter of service a config.minute',
    'delete services b',
  ]);
  assert.equal(second.plan.unchanged, 1);
  assert.deepEqual(await names(store), ['a', 'c']);
});

test('returns new rows with the time at which they were written', async (t) => {
  const store = await openStore(t);
  const old = service('old');
  let fresh: Row | null = null;
  const applied = await applyConfig(
    { store, publisher: null, entities },
    {
      declare: async (_current, now) => {
        fresh = { ...service('new'), created_at: now };
        // The document takes longer than the resolution of the clock.
        await until(() => Date.now() > now);
        return { hash: 'h', rows: { services: [old, fresh] }, problems: [] };
      },
    },
  );
  for (const declared of [old, fresh as unknown as Row]) {
    assert.equal(applied.stored(declared).created_at, (await store.get('services', declared.id))?.created_at);
  }
  assert.notEqual(applied.stored(fresh as unknown as Row).created_at, (fresh as unknown as Row).created_at);
});

test('writes nothing when nothing differs, and nothing for a dry run', async (t) => {
  const store = await openStore(t);
  const a = service('a');
  await apply(store, { services: [a] });
  const version = await store.version();
  const same = await apply(store, { services: [a] });
  assert.deepEqual([same.version, summary(same), same.plan.unchanged], [null, [], 1]);
  const dry = await apply(store, { services: [] }, { dryRun: true });
  assert.deepEqual([dry.version, summary(dry)], [null, ['delete services a']]);
  assert.equal(await store.version(), version);
});

test('writes nothing when the document has a problem', async (t) => {
  const store = await openStore(t);
  const problem = { entity: null, path: [], position: null, id: null, name: null, tags: null, input: {}, errors: {} };
  const applied = await apply(
    store,
    {},
    { declare: async () => ({ hash: 'h', rows: { services: [service('a')] }, problems: [problem] }) },
  );
  assert.equal(applied.problems.length, 1);
  assert.equal(applied.version, null);
  assert.deepEqual(await names(store), []);
});

test('merging deletes nothing, and refuses a name that another entity has', async (t) => {
  const store = await openStore(t);
  await apply(store, { services: [service('a')] });
  const plan = { mode: 'merge', selectTags: [] } as const;
  assert.deepEqual(summary(await apply(store, { services: [service('b')] }, { plan })), ['create services b']);
  assert.deepEqual(await names(store), ['a', 'b']);
  const refused = await apply(store, { services: [service('a')] }, { plan });
  assert.equal(refused.version, null);
  assert.match(JSON.stringify(refused.problems[0]?.errors), /another entity has the same name/);
});

test('with selected tags only entities with these tags are replaced or deleted', async (t) => {
  const store = await openStore(t);
  const other = service('other', { tags: ['team-b'] });
  const own = service('own', { tags: ['team-a'] });
  const bound = row({ name: 'code', service: { id: own.id }, config: {}, tags: ['team-b'] });
  await apply(store, { services: [other, own], plugins: [bound] });
  const plan = { mode: 'replace', selectTags: ['team-a'] } as const;
  const applied = await apply(store, { services: [service('new', { tags: ['x'] })] }, { plan });
  assert.deepEqual(summary(applied), [
    'create services new',
    'delete plugins code of service own',
    'delete services own',
  ]);
  assert.deepEqual(await names(store), ['new', 'other']);
  const [created] = (await store.list('services', { limit: 10 })).filter(({ name }) => name === 'new');
  assert.deepEqual(created?.['tags'], ['x', 'team-a']);
  const refused = await apply(store, { services: [{ ...other, port: 81 }] }, { plan });
  assert.match(JSON.stringify(refused.problems), /exists without the selected tags: team-a/);
});

test('a plan that became void is made again, and a busy config does not stop it', async (t) => {
  const store = await openStore(t);
  await apply(store, { services: [service('a')] });
  const seen: unknown[] = [];
  const applied = await apply(
    store,
    {},
    {
      declare: async (current) => {
        const services = (current['services'] ?? []).filter(({ name }) => name !== 'a');
        seen.push(services.length);
        // Somebody else writes in between, until this runs in the transaction.
        if (seen.length <= 3) await store.write((writer) => writer.insert('services', service(`other-${seen.length}`)));
        return { hash: 'h', rows: { services }, problems: [] };
      },
    },
  );
  assert.deepEqual(seen, [0, 1, 2, 3]);
  assert.deepEqual(summary(applied), ['delete services a']);
  assert.deepEqual(await names(store), ['other-1', 'other-2', 'other-3']);
});

test('a write to something that is not config does not void the plan', async (t) => {
  const store = await openStore(t);
  let declared = 0;
  await apply(
    store,
    {},
    {
      declare: async () => {
        declared++;
        const mark = { upstream: null, target: 't', address: '', health: 'HEALTHY', at: 1 };
        await store.write((writer) => writer.insert('health_marks', row(mark)));
        return { hash: 'h', rows: { services: [service('a')] }, problems: [] };
      },
    },
  );
  assert.equal(declared, 1);
});

test('new rows have the time of the transaction, unless the document has another', async (t) => {
  const store = await openStore(t);
  const before = Date.now();
  await apply(
    store,
    {},
    {
      declare: async (_current, now) => ({
        hash: 'h',
        rows: { services: [service('now', { created_at: now }), service('then', { created_at: 5000 })] },
        problems: [],
      }),
    },
  );
  const created = new Map((await store.list('services', { limit: 10 })).map((found) => [found['name'], found]));
  assert.ok(Number(created.get('now')?.created_at) >= before);
  assert.equal(created.get('now')?.created_at, created.get('now')?.['updated_at']);
  assert.equal(created.get('then')?.created_at, 5000);
});

test('a deletion that others still need is refused, and names who needs it', async (t) => {
  const store = await openStore(t);
  const own = service('own', { tags: ['team-a'] });
  const route = row({ name: 'r', service: { id: own.id }, paths: ['/'], tags: ['team-b'] });
  await apply(store, { services: [own], routes: [route] });
  const plan = { mode: 'replace', selectTags: ['team-a'] } as const;
  const refused = await apply(store, {}, { plan });
  assert.equal(refused.version, null);
  assert.deepEqual(
    refused.problems.map(({ entity, name }) => [entity, name]),
    [['routes', 'r']],
  );
});
