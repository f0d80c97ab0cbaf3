import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestAdmin, type TestAdmin } from './admin.fixture.ts';

let admin: TestAdmin;
before(async () => {
  admin = await startTestAdmin();
});
after(() => admin[Symbol.asyncDispose]());

type Attributes = Readonly<Record<string, unknown>>;

async function fieldsOf(path: string): Promise<ReadonlyMap<string, Attributes>> {
  const { status, json } = await admin.call('GET', path);
  assert.equal(status, 200, path);
  const fields = json['fields'] as readonly Readonly<Record<string, Attributes>>[];
  for (const field of fields) assert.equal(Object.keys(field).length, 1);
  return new Map(fields.flatMap((field) => Object.entries(field)));
}

test('each entity has a schema, its fields in order', async () => {
  for (const { name } of admin.entities.definitions) {
    const fields = await fieldsOf(`/schemas/${name}`);
    assert.ok(fields.has('id') && fields.has('created_at'), name);
  }
  const services = await fieldsOf('/schemas/services');
  assert.deepEqual(services.get('retries')?.['default'], 5);
  assert.deepEqual(services.get('retries')?.['between'], [0, 32767]);
  assert.equal(services.get('client_certificate')?.['reference'], 'certificates');
  const { entities, plugins } = (await admin.call('GET', '/schemas')).json as unknown as {
    readonly entities: readonly {
      readonly name: string;
      readonly path: string | null;
      readonly references: unknown;
      readonly nested_under: unknown;
    }[];
    readonly plugins: readonly { readonly name: string; readonly scopes: readonly string[] }[];
  };
  for (const { name, path } of entities) {
    assert.equal((await admin.call('GET', `/schemas/${name}`)).status, 200, name);
    if (path !== null) assert.equal((await admin.call('GET', path)).status, 200, path);
  }
  const targets = entities.find(({ name }) => name === 'targets');
  assert.equal(targets?.path, null);
  assert.deepEqual(targets?.references, [{ field: 'upstream', entity: 'upstreams', on_delete: 'cascade' }]);
  assert.deepEqual(targets?.nested_under, [{ entity: 'upstreams', field: 'upstream', path: 'targets' }]);
  assert.deepEqual(plugins.map(({ name }) => name).sort(), ['key-auth', 'rate-limiting']);
  assert.deepEqual([...(await fieldsOf('/schemas/tags')).keys()], ['tag', 'entity_name', 'entity_id']);
});

test('the defaults of an entity are those of its schema', async () => {
  const { json } = await admin.call('POST', '/services', { host: 'a.test' });
  for (const [name, attributes] of await fieldsOf('/schemas/services')) {
    if (attributes['auto'] === true || name === 'host') continue;
    assert.deepEqual(json[name], attributes['default'] ?? null, name);
  }
});

test('a plugin has a schema of its own fields', async () => {
  const limiting = await fieldsOf('/schemas/plugins/rate-limiting');
  assert.deepEqual([...limiting.keys()], ['protocols', 'config']);
  const keyAuth = await fieldsOf('/schemas/plugins/key-auth');
  assert.equal(keyAuth.get('consumer')?.['eq'], null);
  const config = (await admin.call('GET', '/plugins/schema/rate-limiting')).json['fields'] as readonly object[];
  assert.deepEqual(
    config.flatMap((field) => Object.keys(field)),
    ['minute', 'policy', 'limits'],
  );
});

test('an unknown name is a 404 with the message of Kong', async () => {
  for (const [path, message] of [
    ['/schemas/nope', "No entity named 'nope'"],
    ['/schemas/__proto__', "No entity named '__proto__'"],
    ['/schemas/consumer_group_plugins', "No entity named 'consumer_group_plugins'"],
    ['/schemas/plugins/nope', "No plugin named 'nope'"],
    ['/schemas/plugins/constructor', "No plugin named 'constructor'"],
    ['/plugins/schema/nope', "No plugin named 'nope'"],
    ['/schemas/vaults/hcv', "No vault named 'hcv'"],
    ['/schemas/filters/f', "Filter 'f' not found"],
  ] as const) {
    const answer = await admin.call('GET', path);
    assert.equal(answer.status, 404, path);
    assert.deepEqual(answer.json, { message });
  }
  assert.equal((await admin.call('POST', '/schemas/nope/validate', {})).status, 404);
});

test('a valid body is reported as valid, and is not stored', async () => {
  const count = await admin.store.count('routes');
  const id = '00000000-0000-4000-8000-000000000001';
  const answer = await admin.call('POST', '/schemas/routes/validate', {
    id,
    paths: ['/x'],
    service: { id },
    tags: ['t'],
  });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.json, { message: 'schema validation successful' });
  assert.equal(await admin.store.count('routes'), count);
  const plugin = await admin.call('POST', '/schemas/plugins/validate', {
    name: 'rate-limiting',
    config: { minute: 1 },
  });
  assert.equal(plugin.status, 200, plugin.text);
});

test('an invalid body is refused like a write', async () => {
  for (const [path, body, fields] of [
    ['/schemas/services/validate', {}, { host: 'required field missing' }],
    ['/schemas/services/validate', 'host=a.test&port=80', { port: 'expected an integer' }],
    [
      '/schemas/plugins/validate',
      { name: 'rate-limiting', config: { minute: 0 } },
      { config: { minute: 'value must be greater than 0' } },
    ],
  ] as const) {
    const answer = await admin.call('POST', path, body);
    assert.equal(answer.status, 400, answer.text);
    assert.equal(answer.json['code'], 2);
    assert.deepEqual(answer.json['fields'], fields);
  }
});
