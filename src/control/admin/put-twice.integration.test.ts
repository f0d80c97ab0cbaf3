import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { bundledPlugins } from '../../plugins/registry.ts';
import { authority, ecCertificate, ecKey } from '../../shared/entities/certificates.fixture.ts';
import type { EntityDefinition } from '../../shared/entities/entity.ts';
import { createEntityRegistry } from '../../shared/entities/registry.ts';

/*
 * Clients that keep the configuration in files write the same entity repeatedly. This must change nothing, in particular no
 * generated value.
 */

type Fields = Readonly<Record<string, unknown>>;

const modules = await Promise.all([...bundledPlugins.values()].map((load) => load()));
const brought = await Promise.all(modules.map((module) => module.default.loadEntities()));
const { definitions } = createEntityRegistry({ names: () => [], describe: () => null }, brought.flat());

let gateway: TestGateway;
const ids = { consumer: randomUUID(), service: randomUUID(), upstream: randomUUID(), credential: randomUUID() };

before(async () => {
  gateway = await startTestGateway({ settings: { workers: 1, plugins: ['bundled'], untrustedFunctions: 'on' } });
  await admin('PUT', `/consumers/${ids.consumer}`, { username: 'ada' });
  await admin('PUT', `/services/${ids.service}`, { host: 'example.com' });
  await admin('PUT', `/upstreams/${ids.upstream}`, { name: 'backends' });
  await admin('PUT', `/consumers/${ids.consumer}/oauth2/${ids.credential}`, { name: 'an application' });
});
after(() => gateway?.stop());

async function admin(method: string, path: string, body?: unknown): Promise<Fields> {
  const answer = await gateway.admin(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

const consumer = { id: ids.consumer };

/** The bodies that an entity is written with; without one here it cannot be written by the Admin API. */
const bodies: Readonly<Record<string, readonly Fields[]>> = {
  acls: [{ consumer, group: 'staff' }],
  apis: [{ name: 'orders', service: { id: ids.service } }],
  basicauth_credentials: [{ consumer, username: 'ada', password: 'a password' }],
  ca_certificates: [{ cert: authority }],
  certificates: [{ cert: ecCertificate, key: ecKey }],
  consumers: [{ username: 'bob' }],
  hmacauth_credentials: [{ consumer, username: 'ada' }],
  jwt_secrets: [{ consumer }],
  keyauth_credentials: [{ consumer }, { consumer, key: 'a key' }],
  mtls_auth_credentials: [{ consumer, subject_name: 'ada@example.com' }],
  oauth2_credentials: [
    { consumer, name: 'app' },
    { consumer, name: 'app', hash_secret: true },
    { consumer, name: 'app', hash_secret: true, client_secret: 'a secret' },
  ],
  oauth2_tokens: [{ credential: { id: ids.credential }, expires_in: 60 }],
  plugins: [
    { name: 'oauth2', service: { id: ids.service }, config: { enable_client_credentials: true } },
    { name: 'session', service: { id: ids.service } },
    { name: 'openid-connect', service: { id: ids.service }, config: { issuer: 'https://127.0.0.1:9/' } },
    { name: 'pagination', service: { id: ids.service }, config: { backend: { style: 'page', items: '$.items' } } },
  ],
  routes: [{ paths: ['/a'] }],
  services: [{ host: 'example.com' }],
  sessions: [{ session_id: 'a session' }],
  snis: [{ name: 'example.com', certificate: { id: 'of a certificate' } }],
  upstreams: [{ name: 'others' }],
};

/** Fields that a client may leave to the gateway, within records too. */
function generated({ schema }: EntityDefinition): readonly string[] {
  return [...schema.fields]
    .filter(([, { meta }]) => meta.auto === true && meta.timestamp !== true)
    .map(([field]) => field);
}

function lasting({ created_at: _created, updated_at: _updated, ttl: _ttl, ...rest }: Fields): Fields {
  return rest;
}

for (const definition of definitions) {
  const { name, path } = definition;
  if (path === null) continue;
  test(`${name}: a PUT of the same body, or with null for what was generated, changes nothing`, async () => {
    const given = bodies[name] ?? [];
    assert.notEqual(given.length, 0, `no body for ${name}`);
    for (const each of given) {
      const body = name === 'snis' ? { ...each, certificate: { id: await certificateId() } } : each;
      const entity: string = `/${path}/${randomUUID()}`;
      await admin('PUT', entity, body);
      const first = lasting(await admin('GET', entity));
      const left = generated(definition).filter((field) => body[field] === undefined && field !== 'id');
      const nulls = Object.fromEntries(left.map((field) => [field, null]));
      for (const again of [body, { ...body, ...nulls }, { ...first, ...nulls }]) {
        const { status, body: answer } = await gateway.admin('PUT', entity, again);
        assert.equal(status, 200, JSON.stringify([again, answer]));
        assert.deepEqual(lasting(await admin('GET', entity)), first, JSON.stringify(again));
      }
      await admin('DELETE', entity);
    }
  });
}

async function certificateId(): Promise<unknown> {
  return (await admin('POST', '/certificates', { cert: ecCertificate, key: ecKey }))['id'];
}

test('a secret within the configuration of a plugin stays in a PUT with null, and changes when one is given', async () => {
  for (const [name, field, config] of [
    ['oauth2', 'provision_key', { enable_client_credentials: true }],
    ['session', 'secret', {}],
    ['openid-connect', 'session_secret', { issuer: 'https://127.0.0.1:9/' }],
    ['pagination', 'secret', { backend: { style: 'page', items: '$.items' } }],
  ] as const) {
    const entity = `/plugins/${randomUUID()}`;
    const secretOf = (row: Fields): unknown => (row['config'] as Fields)[field];
    const first = secretOf(await admin('PUT', entity, { name, config }));
    assert.match(String(first), /^[A-Za-z0-9]{32}$/, name);
    for (const again of [config, { ...config, [field]: null }]) {
      assert.equal(secretOf(await admin('PUT', entity, { name, config: again })), first, name);
    }
    const other = 'another secret of some length';
    assert.equal(secretOf(await admin('PUT', entity, { name, config: { ...config, [field]: other } })), other);
    await admin('DELETE', entity);
  }
});

test('another plugin under the same id does not take over a secret', async () => {
  const entity = `/plugins/${randomUUID()}`;
  const first = (await admin('PUT', entity, { name: 'session' }))['config'] as Fields;
  const config = { backend: { style: 'page', items: '$.items' } };
  const second = (await admin('PUT', entity, { name: 'pagination', config }))['config'] as Fields;
  assert.notEqual(second['secret'], first['secret']);
  await admin('DELETE', entity);
});
