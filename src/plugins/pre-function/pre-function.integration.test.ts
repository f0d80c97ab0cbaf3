import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestGateway } from '../../../test/support/gateway.ts';
import { runReadme } from '../../../test/support/readme-commands.ts';
import { startRig } from '../../../test/support/rig.ts';
import { until } from '../../../test/support/until.ts';

const access = ['(context) => refuse(403, "no")'];

test('functions are off by default, and the Admin API says what to set', async (t) => {
  const rig = await startRig();
  t.after(() => rig.close());
  const { status, body } = await rig.gateway.admin('POST', '/plugins', { name: 'pre-function', config: { access } });
  assert.equal(status, 400);
  assert.match(String(Object(body['fields'])['config']), /set untrusted_lua = sandbox \(or on\)/);
});

for (const mode of ['sandbox', 'on']) {
  test(`functions run with KONG_UNTRUSTED_LUA=${mode}`, async (t) => {
    const rig = await startRig({ env: { KONG_UNTRUSTED_LUA: mode } });
    t.after(() => rig.close());
    await rig.write('POST', '/plugins', { name: 'pre-function', config: { access } });
    const answer = await fetch(rig.gateway.proxyUrl);
    assert.equal(answer.status, 403);
    assert.equal(Object(await answer.json()).message, 'no');
  });
}

test('the sandbox shows what the SDK documents of entities, and nothing else of them', async (t) => {
  const rig = await startRig({ env: { KONG_UNTRUSTED_LUA: 'sandbox' } });
  t.after(() => rig.close());
  const seen = '({ route, service, client }) => replyJson(200, [route, service, client.consumer, client.credential])';
  await rig.write('POST', '/plugins', { name: 'post-function', config: { access: [seen] } });
  await rig.write('PUT', '/consumers/ada', { tags: ['staff'] });
  await rig.write('POST', '/consumers/ada/key-auth', { key: 'k1' });
  await rig.write('POST', '/plugins', { name: 'key-auth' });
  const answer = await fetch(rig.gateway.proxyUrl, { headers: { apikey: 'k1' } });
  const entities = (await answer.json()) as readonly object[];
  assert.deepEqual(
    entities.map((one) => Object.keys(one)),
    [
      ['id', 'name', 'tags'],
      ['id', 'name', 'host', 'port', 'protocol', 'path', 'tags'],
      ['id', 'username', 'customId', 'tags'],
      ['id', 'identifier'],
    ],
  );
  assert.ok(!JSON.stringify(entities).includes('k1'));
});

test('a syntax error is refused with its place, in the form of Kong', async (t) => {
  const rig = await startRig({ env: { SLUICEGATE_UNTRUSTED_FUNCTIONS: 'on' } });
  t.after(() => rig.close());
  const config = { access: ['() => {}', '(context) => {\n  context.;\n}'] };
  const { status, body } = await rig.gateway.admin('POST', '/plugins', { name: 'pre-function', config });
  assert.equal(status, 400);
  assert.equal(body['name'], 'schema violation');
  assert.deepEqual(Object(body['fields']), {
    config: { access: [null, "error parsing pre-function: line 2, column 11: Unexpected token ';'"] },
  });
});

test('rewrite runs before routing, and all phases of one request share values', async (t) => {
  const rig = await startRig({ env: { KONG_UNTRUSTED_LUA: 'on' } });
  t.after(() => rig.close());
  const config = {
    rewrite: ["({ request }) => request.path === '/ping' ? reply({ status: 200, body: 'pong' }) : undefined"],
    body_filter: ["(context, text) => text.replaceAll('a', 'A')"],
  };
  await rig.write('POST', '/plugins', { name: 'pre-function', config });
  assert.equal(await (await fetch(`${rig.gateway.proxyUrl}/ping`)).text(), 'pong');
});

test('a stored function does not run after functions were switched off', async (t) => {
  const prefix = await mkdtemp(join(tmpdir(), 'sluicegate-functions-'));
  t.after(() => rm(prefix, { recursive: true, force: true }));
  const before = await startRig({ settings: { prefix }, env: { KONG_UNTRUSTED_LUA: 'on' } });
  await before.write('POST', '/plugins', {
    name: 'pre-function',
    config: { access: ['() => reply({ status: 200 })'] },
  });
  assert.equal((await fetch(before.gateway.proxyUrl)).status, 200);
  await before.close();
  const rig = await startRig({ settings: { prefix } });
  t.after(() => rig.close());
  assert.equal((await fetch(rig.gateway.proxyUrl)).status, 500);
});

test('a document of a node without a database is refused while functions are off', async (t) => {
  const gateway = await startTestGateway({ settings: { database: 'off' } });
  t.after(() => gateway.stop());
  const { status, body } = await gateway.admin('POST', '/config', {
    _format_version: '3.0',
    plugins: [{ name: 'pre-function', config: { access } }],
  });
  assert.equal(status, 400);
  assert.match(JSON.stringify(body), /set untrusted_lua = sandbox/);
});

for (const mode of ['sandbox', 'on']) {
  test(`what-if shows what a function would do, with ${mode}`, async (t) => {
    const rig = await startRig({ env: { KONG_UNTRUSTED_LUA: mode, SLUICEGATE_TRAFFIC_RECORDER: '100' } });
    t.after(() => rig.close());
    await (await fetch(rig.gateway.proxyUrl)).arrayBuffer();
    const { admin } = rig.gateway;
    await until(async () => Object((await admin('GET', '/traffic')).body['recorder']).kept === 1);
    const changes = [{ method: 'POST', path: '/plugins', body: { name: 'pre-function', config: { access } } }];
    const { status, body } = await admin('POST', '/what-if', { changes });
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body['changed'], 1, JSON.stringify(body));
    assert.match(JSON.stringify(body), /"status":403/);
  });
}

for (const name of ['pre-function', 'post-function']) {
  test(`the README of ${name} works as printed, in the sandbox`, async (t) => {
    const rig = await startRig({ env: { KONG_UNTRUSTED_LUA: 'sandbox' } });
    t.after(() => rig.close());
    await rig.write('PUT', '/services/users', { url: rig.backend.url });
    await rig.write('PUT', '/services/users/routes/orders', { paths: ['/orders'] });
    await runReadme(new URL(`../${name}/README.md`, import.meta.url), rig.gateway);
  });
}
