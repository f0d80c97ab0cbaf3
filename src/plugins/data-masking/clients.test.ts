import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePlugin, httpProtocols, type IdentityDetails } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import type { TestOutcome, TestPluginOptions } from '../../plugin-testing/index.ts';
import { type Config, json, type Rules, send } from './testing/send.ts';

interface Client {
  readonly consumer?: string;
  readonly details?: Partial<IdentityDetails>;
}

async function asClient(
  client: Client,
  rules: Rules,
  config: Config = {},
  options: TestPluginOptions = {},
): Promise<TestOutcome> {
  const authentication = definePlugin({
    name: 'test-auth',
    version: '1.0.0',
    priority: 1500,
    protocols: httpProtocols,
    schema: { config: record({}) },
    setup: () => ({
      access(context) {
        const consumer =
          client.consumer === undefined ? null : { id: client.consumer, username: 'x', customId: null, tags: [] };
        context.authenticate(consumer, { id: null, identifier: 'x' }, client.details);
        return undefined;
      },
    }),
  });
  const entities = { consumers: [{ id: ada }], acls: [{ consumer: { id: ada }, group: 'staff' }] };
  const request = {
    backend: {
      headers: { 'Content-Type': json, ETag: '"1"', 'Cache-Control': 'public, max-age=60' },
      body: '{"a":1,"b":2}',
    },
  };
  return send(rules, request, config, { otherPlugins: [{ plugin: authentication }], entities, ...options });
}

const ada = '5b0ef6c3-0000-4000-8000-000000000001';
const bob = '5b0ef6c3-0000-4000-8000-000000000002';

test('rules do not apply to members of except_groups, but to all others', async () => {
  const rules: Rules = [{ json_paths: ['$.a'], except_groups: ['staff'] }, { json_paths: ['$.b'] }];
  for (const slowEntities of [false, true]) {
    const bodyFor = async (client: Client, config: Config = {}) =>
      (await asClient(client, rules, config, { slowEntities })).response.body;
    assert.equal(await bodyFor({ consumer: ada }), '{"a":1,"b":"***"}');
    assert.equal(await bodyFor({ consumer: bob }), '{"a":"***","b":"***"}');
    assert.equal(await bodyFor({}), '{"a":"***","b":"***"}');
    assert.equal(await bodyFor({ details: { groups: ['staff'] } }), '{"a":1,"b":"***"}');
    assert.equal(await bodyFor({ consumer: bob, details: { groups: ['staff'] } }), '{"a":"***","b":"***"}');
    const always = { always_use_authenticated_groups: true };
    assert.equal(await bodyFor({ consumer: bob, details: { groups: ['staff'] } }, always), '{"a":1,"b":"***"}');
    assert.equal(await bodyFor({ consumer: ada, details: { groups: [] } }, always), '{"a":"***","b":"***"}');
  }
});

test('responses that differ by client are private and have different tags', async () => {
  const rules: Rules = [{ json_paths: ['$.a'], except_groups: ['staff'] }, { json_paths: ['$.b'] }];
  const exempted = (await asClient({ consumer: ada }, rules)).response;
  const full = (await asClient({ consumer: bob }, rules)).response;
  assert.equal(full.header('cache-control'), 'private, max-age=60');
  assert.equal(exempted.header('cache-control'), 'private, max-age=60');
  assert.match(full.header('etag') ?? '', /^W\/"1-m[0-9a-f]{8}"$/);
  assert.match(exempted.header('etag') ?? '', /^W\/"1-m[0-9a-f]{8}"$/);
  assert.notEqual(full.header('etag'), exempted.header('etag'));
  const none = (await asClient({ consumer: ada }, [{ json_paths: ['$.a'], except_groups: ['staff'] }])).response;
  assert.equal(none.header('etag'), '"1"');
  assert.equal(none.header('cache-control'), 'private, max-age=60');
  const alike = (await asClient({}, [{ json_paths: ['$.a'] }])).response;
  assert.equal(alike.header('cache-control'), 'public, max-age=60');
});

test('the backend receives conditions with its own tags, and no ranges', async () => {
  const rules: Rules = [{ json_paths: ['$.a'] }];
  const first = await send(rules, {
    backend: { headers: { 'Content-Type': json, ETag: '"x,y"', 'Accept-Ranges': 'bytes' }, body: '{}' },
  });
  const tag = first.response.header('etag') ?? '';
  assert.equal(first.response.header('accept-ranges'), null);
  const second = await send(rules, {
    headers: {
      'If-None-Match': `"other", ${tag}`,
      Range: 'bytes=0-1',
      'If-Range': '"x"',
      'If-Modified-Since': 'Sat, 21 Nov 2026 00:00:00 GMT',
    },
    backend: { status: 304, headers: { ETag: '"x,y"' } },
  });
  assert.equal(second.upstream?.header('if-none-match'), 'W/"x,y"');
  for (const name of ['range', 'if-range', 'if-modified-since'])
    assert.equal(second.upstream?.header(name), null, name);
  assert.equal(second.response.status, 304);
  assert.equal(second.response.header('etag'), tag);
  const image = await send(
    rules,
    { backend: { headers: { 'Content-Type': 'image/png', ETag: '"1"', Digest: 'x' }, body: 'PNG' } },
    { pass_types: ['image/*'] },
  );
  assert.match(image.response.header('etag') ?? '', /^W\/"1-m/);
  assert.equal(image.response.header('digest'), 'x');
  const foreign = await send(rules, { headers: { 'If-None-Match': '"x,y", *' } });
  assert.equal(foreign.upstream?.header('if-none-match'), null);
});
