import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openClient } from '../../../test/support/raw-client.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';

const document = (title: string) => `
openapi: 3.1.0
info: { title: ${title}, version: "1" }
paths:
  /orders:
    get:
      parameters: [{ name: limit, in: query, schema: { type: integer, maximum: 100 } }]
      responses: { "200": { description: any, content: { application/json: { schema: { type: array }, example: [1] } } } }
    post:
      requestBody: { required: true, content: { application/json: { schema: { $ref: "#/components/schemas/Order" } } } }
      responses: { "201": { description: any } }
  /orders/{id}:
    get: { parameters: [{ name: id, in: path, required: true, schema: { type: string, maxLength: 5 } }], responses: { default: { description: any } } }
components: { schemas: { Order: { type: object, required: [item], properties: { item: { type: [string, "null"] } } } } }
`;
const folder = mkdtempSync(join(tmpdir(), 'openapi-'));
let rig: Rig;
before(async () => {
  rig = await startRig();
  writeFileSync(join(folder, 'shop.yaml'), document('shop'));
  for (const [name, config] of Object.entries({
    shop: { document: document('shop'), base_path: '/shop' },
    file: { file: join(folder, 'shop.yaml'), base_path: '/file', mock: true },
  })) {
    await rig.write('PUT', `/services/backend/routes/${name}`, { paths: [`/${name}`] });
    await rig.write('POST', `/routes/${name}/plugins`, { name: 'openapi', config });
  }
});
after(async () => {
  await rig.close();
  rmSync(folder, { recursive: true, force: true });
});

async function ask(
  target: string,
  method = 'GET',
  body = '',
  lines = '',
): Promise<readonly [number, string, (name: string) => string | null]> {
  using client = await openClient(rig.port);
  const length = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  client.write(`${method} ${target} HTTP/1.1\r\nHost: a\r\n${lines}${length}\r\n${body}`);
  const answer = await client.readResponse(method);
  return [answer.status, answer.body, (name) => answer.get(name) ?? null];
}

test('checks requests against the document', async () => {
  const seen = rig.backend.requests.length;
  for (const [target, status] of [
    ['/shop/orders?limit=101', 400],
    ['/shop/orders/123456', 400],
    ['/shop/orders/1%2F2%2F3%2F4', 400],
    ['/shop/other', 404],
    ['/shop//other/../orders?limit=x', 400],
    ['/shop/orders/%7Babcdef', 400],
  ] as const) {
    assert.equal((await ask(target))[0], status, target);
  }
  const [status, , header] = await ask('/shop/orders', 'DELETE');
  assert.deepEqual([status, header('allow')], [405, 'GET, POST, HEAD']);
  assert.equal((await ask('/shop/orders', 'POST', '{"item":1}'))[0], 400);
  assert.equal(rig.backend.requests.length, seen);
  for (const [target, method, body] of [
    ['/shop/orders?limit=100', 'GET', ''],
    ['/shop/orders/%C3%A9%C3%A9', 'GET', ''],
    ['/shop/orders', 'POST', '{"item":null}'],
    ['/shop/orders', 'HEAD', ''],
  ] as const) {
    assert.equal((await ask(target, method, body))[0], 200, target);
  }
});

test('answers with mocks without a backend, also for HEAD', async () => {
  const seen = rig.backend.requests.length;
  const [status, body, header] = await ask('/file/orders');
  assert.deepEqual([status, body, header('x-mock-response'), header('content-length')], [200, '[1]', 'true', '3']);
  const [, none, head] = await ask('/file/orders', 'HEAD');
  assert.deepEqual([none, head('content-length')], ['', '3']);
  assert.equal((await ask('/file/orders', 'POST', '{"item":"tea"}'))[0], 201);
  assert.equal(rig.backend.requests.length, seen);
});

test('applies a changed document at once, and refuses an invalid one', async () => {
  const { body } = await rig.gateway.admin('GET', '/routes/shop/plugins');
  const [{ id }] = body['data'] as [{ id: string }];
  const wrong = await rig.gateway.admin('PATCH', `/plugins/${id}`, {
    config: { document: document('x').replace('maxLength', 'maxLenght') },
  });
  assert.equal(wrong.status, 400);
  assert.match(
    JSON.stringify(wrong.body),
    /\/paths\/~1orders~1\{id\}\/get\/parameters\/0\/schema\/maxLenght: there is no such keyword/,
  );
  assert.equal((await ask('/shop/orders?limit=101'))[0], 400);
  await rig.write('PATCH', `/plugins/${id}`, {
    config: { document: document('x').replace('maximum: 100', 'maximum: 200') },
  });
  assert.equal((await ask('/shop/orders?limit=101'))[0], 200);
});
