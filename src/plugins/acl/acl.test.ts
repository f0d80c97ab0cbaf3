import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePlugin, httpProtocols, type IdentityDetails } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { type TestOutcome, testPlugin } from '../../plugin-testing/index.ts';
import acl from './index.ts';

type Config = Readonly<Record<string, unknown>>;

const ada = '5b0ef6c3-0000-4000-8000-000000000001';
const bob = '5b0ef6c3-0000-4000-8000-000000000002';

interface Client {
  readonly consumer?: string;
  /** Default: the client has a consumer. */
  readonly credential?: boolean;
  readonly details?: Partial<IdentityDetails>;
}

async function outcome(config: Config, client: Client | null, slow = false): Promise<TestOutcome> {
  const authentication = definePlugin({
    name: 'test-auth',
    version: '1.0.0',
    priority: 1500,
    protocols: httpProtocols,
    schema: { config: record({}) },
    setup: () => ({
      access(context) {
        if (client === null) return undefined;
        const { consumer: id, credential = true, details } = client;
        const consumer = id === undefined ? null : { id, username: 'x', customId: null, tags: [] };
        context.authenticate(consumer, credential ? { id: null, identifier: 'x' } : null, details);
        return undefined;
      },
    }),
  });
  const entities = {
    consumers: [{ id: ada }, { id: bob }],
    acls: [
      { consumer: { id: ada }, group: 'readers' },
      { consumer: { id: ada }, group: 'writers' },
    ],
  };
  return testPlugin(acl, { config, entities, slowEntities: slow, otherPlugins: [{ plugin: authentication }] }).request({
    headers: { 'X-Consumer-Groups': 'spoofed', 'X-Authenticated-Groups': 'spoofed' },
  });
}

async function statusOf(config: Config, client: Client | null): Promise<number> {
  return (await outcome(config, client)).response.status;
}

test('exactly one of allow and deny must be given', async () => {
  const exactly = "exactly one of these fields must be non-empty: 'config.allow', 'config.deny'";
  const both = await testPlugin(acl).check({ allow: ['a'], deny: ['b'] });
  assert.deepEqual(both, { ok: false, message: `schema violation (${exactly})` });
  const none = await testPlugin(acl).check({});
  assert.ok(!none.ok);
  assert.ok(none.message.includes(exactly));
  assert.ok(none.message.includes("at least one of these fields must be non-empty: 'config.allow', 'config.deny'"));
});

test('allow accepts members of any listed group, and no other client', async () => {
  assert.equal(await statusOf({ allow: ['writers', 'others'] }, { consumer: ada }), 200);
  assert.equal(await statusOf({ allow: ['others'] }, { consumer: ada }), 403);
  assert.equal(await statusOf({ allow: ['Writers'] }, { consumer: ada }), 403);
  assert.equal(await statusOf({ allow: ['writers'] }, { consumer: bob }), 403);
});

test('deny refuses members of any listed group, and no other client', async () => {
  assert.equal(await statusOf({ deny: ['writers'] }, { consumer: ada }), 403);
  assert.equal(await statusOf({ deny: ['others'] }, { consumer: ada }), 200);
  assert.equal(await statusOf({ deny: ['writers'] }, { consumer: bob }), 200);
});

test('answers 401 to an unauthenticated client, and 403 to an authenticated one', async () => {
  const allow = { allow: ['writers'] };
  assert.equal(await statusOf(allow, null), 401);
  assert.equal(await statusOf({ deny: ['writers'] }, null), 401);
  assert.equal(await statusOf(allow, {}), 403);
  assert.equal(await statusOf(allow, { consumer: bob, credential: false }), 401);
  const { response, requestId, upstream } = await outcome(allow, { consumer: bob });
  assert.equal(upstream, null);
  assert.equal(response.body, `{\n  "message":"You cannot consume this service",\n  "request_id":"${requestId}"\n}`);
  assert.match((await outcome(allow, null)).response.body, /"message":"Unauthorized"/);
});

test('forwards the groups of the consumer, never those that a client claims', async () => {
  for (const slow of [false, true]) {
    const { upstream } = await outcome({ allow: ['writers'] }, { consumer: ada }, slow);
    assert.equal(upstream?.header('x-consumer-groups'), 'readers, writers');
    assert.equal(upstream?.header('x-authenticated-groups'), null);
  }
  const hidden = await outcome({ allow: ['writers'], hide_groups_header: true }, { consumer: ada });
  assert.equal(hidden.upstream?.header('x-consumer-groups'), null);
  const none = await outcome({ deny: ['writers'] }, { consumer: bob });
  assert.equal(none.upstream?.header('x-consumer-groups'), null);
});

test('uses the groups of the authentication when there is no consumer', async () => {
  const details = { groups: ['staff', 'a\r\nb'] };
  const { response, upstream } = await outcome({ allow: ['staff'] }, { details });
  assert.equal(response.status, 200);
  assert.equal(upstream?.header('x-authenticated-groups'), 'staff');
  assert.equal(upstream?.header('x-consumer-groups'), null);
  assert.equal(await statusOf({ allow: ['writers'] }, { details }), 403);
  assert.equal(await statusOf({ deny: ['staff'] }, { details }), 403);
});

test('uses the groups of the authentication next to a consumer only if configured', async () => {
  const client = { consumer: ada, details: { groups: ['staff'] } };
  assert.equal(await statusOf({ allow: ['staff'] }, client), 403);
  assert.equal(await statusOf({ allow: ['writers'] }, client), 200);
  const always = { always_use_authenticated_groups: true };
  assert.equal(await statusOf({ allow: ['staff'], ...always }, client), 200);
  assert.equal(await statusOf({ allow: ['writers'], ...always }, client), 403);
  assert.equal(await statusOf({ allow: ['writers'], ...always }, { consumer: ada }), 200);
});
