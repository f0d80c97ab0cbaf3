import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Rig, startRig } from '../../../test/support/rig.ts';

let rig: Rig;
before(async () => {
  rig = await startRig();
  await rig.write('PUT', '/services/backend/routes/user', {
    paths: ['~/users/(?<id>[^/]+)/orders$'],
    strip_path: false,
  });
  await rig.write('POST', '/routes/user/plugins', {
    name: 'request-validator',
    config: {
      version: 'draft4',
      body_schema: '{"type":"object","required":["item"],"properties":{"item":{"type":"string"}}}',
      parameter_schema: [
        { in: 'path', name: 'id', required: true, schema: '{"type":"integer"}' },
        {
          in: 'query',
          name: 'tag',
          schema: '{"type":"array","items":{"enum":["a b","c"]}}',
          style: 'form',
          explode: true,
        },
      ],
    },
  });
});
after(() => rig.close());

async function ask(path: string, body?: string, type = 'application/json') {
  const options = body === undefined ? {} : { method: 'POST', body, headers: { 'content-type': type } };
  const response = await fetch(rig.gateway.proxyUrl + path, options);
  const text = await response.text();
  return [response.status, response.status < 300 ? '' : JSON.parse(text).message];
}

test('refuses invalid requests with the texts of Kong, before the backend', async () => {
  const seen = rig.backend.requests.length;
  const param = [400, "request param doesn't conform to schema"];
  assert.deepEqual(await ask('/users/x/orders'), param);
  assert.deepEqual(await ask('/users/1/orders?tag=a+b&tag=d'), param);
  assert.deepEqual(await ask('/users/1/orders', '{}'), [400, "request body doesn't conform to schema"]);
  assert.deepEqual(await ask('/users/1/orders', 'x', 'text/plain'), [415, 'specified Content-Type is not allowed']);
  assert.equal(rig.backend.requests.length, seen);
});

test('forwards valid requests', async () => {
  assert.deepEqual(await ask('/users/1/orders?tag=a+b&tag=c'), [200, '']);
  assert.deepEqual(await ask('/users/1/orders', '{"item":"tea"}', 'application/json; charset=utf-8'), [200, '']);
  assert.equal(rig.backend.requests.at(-1)?.body, '{"item":"tea"}');
});

test('the Admin API names the invalid field', async () => {
  const config = { parameter_schema: [{ in: 'query', name: 'a', schema: '{"type":"text"}' }] };
  const { status, body } = await rig.gateway.admin('POST', '/plugins', { name: 'request-validator', config });
  assert.equal(status, 400);
  assert.match(JSON.stringify(body['fields']), /"parameter_schema":\[\{"schema":"is not a usable schema: \/type/);
});
