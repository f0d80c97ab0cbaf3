import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from 'sluicegate/plugin-testing';
import jsonApi from './index.ts';

const headers = { Accept: 'application/vnd.api+json' };
const json = { 'Content-Type': 'application/json', ETag: '"1"' };
const plugin = testPlugin(jsonApi, { config: { type: 'users' } });

async function shaped(body: string, status = 200) {
  const { response } = await plugin.request({ headers, backend: { status, headers: json, body } });
  return { response, value: JSON.parse(response.body) as Record<string, unknown> };
}

test('an object becomes a resource', async () => {
  const { response, value } = await shaped('{"id":7,"name":"Ada","__proto__":{"x":1}}');
  assert.deepEqual(
    value,
    JSON.parse('{"data":{"type":"users","id":"7","attributes":{"name":"Ada","__proto__":{"x":1}}}}'),
  );
  assert.equal(response.header('content-type'), 'application/vnd.api+json');
  assert.deepEqual([response.header('vary'), response.header('etag')], ['Accept', null]);
});

test('a list becomes a list of resources, and large numbers keep their digits', async () => {
  const { value } = await shaped('[{"id":12345678901234567890},{"id":"b"}]');
  assert.deepEqual(value['data'], [
    { type: 'users', id: '12345678901234567890', attributes: {} },
    { type: 'users', id: 'b', attributes: {} },
  ]);
});

test('an error of the backend is an error of JSON:API', async () => {
  const { response, value } = await shaped('{"reason":"taken"}', 409);
  assert.equal(response.status, 409);
  assert.deepEqual(value, { errors: [{ status: '409', title: 'Error', meta: { body: { reason: 'taken' } } }] });
});

test('what cannot be a resource is a 502', async () => {
  for (const body of ['{"name":"Ada"}', '{"id":{}}', '{"id":null}', '[1]', '{', '"text"'])
    assert.equal((await shaped(body)).response.status, 502);
});

test('other clients, other types and HEAD get what the backend sent', async () => {
  const backend = { headers: json, body: '{"id":1}' };
  const plain = await plugin.request({ headers: { Accept: '*/*' }, backend });
  assert.deepEqual([plain.response.body, plain.response.header('vary')], ['{"id":1}', 'Accept']);
  const text = { headers: { 'Content-Type': 'text/plain' }, body: 'text' };
  assert.equal((await plugin.request({ headers, backend: text })).response.body, 'text');
  assert.equal((await plugin.request({ method: 'HEAD', headers, backend: { headers: json } })).response.status, 200);
});
