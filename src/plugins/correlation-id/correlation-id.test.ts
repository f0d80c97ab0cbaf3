import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePlugin, httpProtocols, refuse } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { testNode, testPlugin } from '../../plugin-testing/index.ts';
import correlationId from './index.ts';

const refuseAll = definePlugin({
  name: 'refuse-all',
  version: '1.0.0',
  priority: 1,
  protocols: httpProtocols,
  schema: { config: record({}) },
  setup: () => ({ access: () => refuse(503, 'closed') }),
});

const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';

test('has the defaults of Kong', async () => {
  const result = await testPlugin(correlationId).check({});
  assert.deepEqual(result, {
    ok: true,
    config: { header_name: 'Kong-Request-ID', generator: 'uuid#counter', echo_downstream: false },
  });
});

test('refuses an unknown generator', async () => {
  assert.deepEqual(await testPlugin(correlationId).check({ generator: 'random' }), {
    ok: false,
    message: 'schema violation (config.generator: expected one of: uuid, uuid#counter, tracker)',
  });
});

test('refuses an invalid header name', async () => {
  const result = await testPlugin(correlationId).check({ header_name: 'a b\r\n' });
  assert.equal(result.ok, false);
});

test('uuid#counter gives one UUID per worker and consecutive numbers', async () => {
  const plugin = testPlugin(correlationId);
  const first = (await plugin.request()).upstream?.header('kong-request-id') ?? '';
  const second = (await plugin.request()).upstream?.header('kong-request-id') ?? '';
  assert.match(first, new RegExp(`^${uuid}#\\d+$`));
  const [worker, number] = first.split('#');
  assert.equal(second, `${worker}#${Number(number) + 1}`);
});

test('uuid gives a new UUID each time', async () => {
  const plugin = testPlugin(correlationId, { config: { generator: 'uuid' } });
  const first = (await plugin.request()).upstream?.header('kong-request-id') ?? '';
  const second = (await plugin.request()).upstream?.header('kong-request-id') ?? '';
  assert.match(first, new RegExp(`^${uuid}$`));
  assert.notEqual(first, second);
});

test('tracker contains listener, process, connection, request and time', async () => {
  const plugin = testPlugin(correlationId, { config: { generator: 'tracker' } });
  const id = (await plugin.request()).upstream?.header('kong-request-id') ?? '';
  assert.match(id, new RegExp(`^127\\.0\\.0\\.1-8000-${testNode.pid}-1-1-\\d{10}\\.\\d{3}$`));
});

test('keeps the id of the client, and echoes it only if configured', async () => {
  const plugin = testPlugin(correlationId, { config: { header_name: 'X-Trace' } });
  const { upstream, response, record } = await plugin.request({ headers: { 'x-trace': 'mine' } });
  assert.deepEqual(upstream?.headers['x-trace'], ['mine']);
  assert.equal(response.header('x-trace'), null);
  assert.equal(record['correlation_id'], 'mine');
});

test('replaces an empty id of the client', async () => {
  const plugin = testPlugin(correlationId, { config: { header_name: 'X-Trace' } });
  const { upstream } = await plugin.request({ headers: { 'X-Trace': '' } });
  assert.equal(upstream?.headers['x-trace']?.length, 1);
  assert.match(upstream?.header('x-trace') ?? '', /#\d+$/);
});

test('echo_downstream sends the same id to the client and replaces the one of the backend', async () => {
  const plugin = testPlugin(correlationId, { config: { echo_downstream: true } });
  const { upstream, response } = await plugin.request({ backend: { headers: { 'Kong-Request-ID': 'backend' } } });
  assert.deepEqual(response.headers['kong-request-id'], [upstream?.header('kong-request-id')]);
});

test('echoes the id on replies of other plugins', async () => {
  const plugin = testPlugin(correlationId, {
    config: { echo_downstream: true },
    otherPlugins: [{ plugin: refuseAll }],
  });
  const { response } = await plugin.request({ headers: { 'Kong-Request-ID': 'mine' } });
  assert.equal(response.status, 503);
  assert.equal(response.header('kong-request-id'), 'mine');
});

test('echoes the id on a 404 of the gateway, where no access phase runs', async () => {
  const plugin = testPlugin(correlationId, { config: { echo_downstream: true } });
  const { response } = await plugin.request({ routed: false });
  assert.equal(response.status, 404);
  assert.match(response.header('kong-request-id') ?? '', /#\d+$/);
});
