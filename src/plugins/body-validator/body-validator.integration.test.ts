import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { answerEach } from '../../../test/support/raw-backend.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';
import { until } from '../../../test/support/until.ts';

const order = { type: 'object', required: ['item'], properties: { item: { type: 'string' } } };
const list = { type: 'array', items: order, uniqueItems: true };
const answers: Readonly<Record<string, string | Buffer>> = {
  '/right': '{"item":"tea"}',
  '/wrong': '{"item":1}',
  '/broken': '{"item":',
  '/coded': gzipSync('{"item":1}'),
  '/large': `{"item":"${'x'.repeat(200_000)}"}`,
};
let rig: Rig;
before(async () => {
  rig = await startRig({
    script: answerEach(({ target }) => {
      const body = Buffer.from(answers[target] ?? '{"item":"any"}');
      const coding = target === '/coded' ? 'Content-Encoding: gzip\r\n' : '';
      const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${coding}Content-Length: ${body.byteLength}\r\n\r\n`;
      return Buffer.concat([Buffer.from(head), body]).toString('latin1');
    }),
  });
  const config = { schema: JSON.stringify(order), max_body_size: 100_000 };
  for (const [name, more] of Object.entries({
    requests: config,
    lists: { schema: JSON.stringify(list), max_body_size: 8_000_000 },
    reported: { response_schema: JSON.stringify(order), max_body_size: 100_000 },
    enforced: { response_schema: JSON.stringify(order), response_mode: 'enforce', max_body_size: 100_000 },
  })) {
    await rig.write('PUT', `/services/backend/routes/${name}`, { paths: [`/${name}`] });
    await rig.write('POST', `/routes/${name}/plugins`, { name: 'body-validator', config: more });
  }
});
after(() => rig.close());

async function ask(
  path: string,
  body?: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
) {
  const response = await fetch(rig.gateway.proxyUrl + path, {
    ...(body === undefined ? {} : { method: 'POST', body }),
    headers: { 'content-type': 'application/json', ...headers },
  });
  return { status: response.status, text: await response.text() };
}

test('the Admin API refuses an invalid schema and names the place', async () => {
  const { status, body } = await rig.gateway.admin('POST', '/plugins', {
    name: 'body-validator',
    config: { schema: '{"properties": {"a": {"minimun": 1}}}' },
  });
  assert.equal(status, 400);
  assert.match(
    JSON.stringify(body['fields']),
    /"schema":"is not a usable JSON Schema: \/properties\/a\/minimun: there is no such keyword"/,
  );
});

test('forwards valid requests unchanged, and never invalid ones', async () => {
  const seen = rig.backend.requests.length;
  for (const [body, status] of [
    ['{"item":1}', 400],
    ['{"item":', 400],
    ['{"item":"a","item":"b"}', 400],
    [`"${'x'.repeat(100_000)}"`, 413],
  ] as const) {
    assert.equal((await ask('/requests/x', body)).status, status);
  }
  assert.equal((await ask('/requests/x', '{"item":"a"}', { 'content-type': 'text/plain' })).status, 415);
  assert.equal((await ask('/requests/x', '{"item":"a"}', { 'content-encoding': 'strange' })).status, 415);
  assert.equal(
    (await ask('/requests/x', gzipSync(`{"item":"${'x'.repeat(1_000_000)}"}`), { 'content-encoding': 'gzip' })).status,
    413,
  );
  assert.equal(rig.backend.requests.length, seen);
  const body = '{"item": "tea", "n": 12345678901234567890}';
  assert.equal((await ask('/requests/x', body)).status, 200);
  assert.equal(rig.backend.requests.at(-1)?.body, body);
  assert.equal((await ask('/requests/x', gzipSync(body), { 'content-encoding': 'gzip' })).status, 200);
  assert.equal(rig.backend.requests.at(-1)?.body, body);
});

test('checks large bodies in another thread', async () => {
  const items = Array.from({ length: 60_000 }, (_, at) => `{"item":"number ${at}","more":[1,2,3]}`);
  await ask('/lists/x', `[${items.slice(0, 10_000).join()}]`);
  const right = await ask('/lists/x', `[${items.join()}]`);
  const wrong = await ask('/lists/x', `[${items.join()},{"item":5}]`);
  assert.equal(right.status, 200);
  assert.deepEqual(
    [wrong.status, JSON.parse(wrong.text).errors],
    [400, [{ pointer: '/60000/item', rule: 'type', message: 'must be string' }]],
  );
  assert.equal((await ask('/lists/x', `[${items.join()},{]`)).status, 400);
});

test('reports invalid answers and forwards them', async () => {
  for (const path of ['/right', '/wrong', '/broken', '/coded', '/large']) {
    const { status, text } = await ask(`/reported${path}`);
    assert.equal(status, 200);
    assert.equal(text, path === '/coded' ? '{"item":1}' : String(answers[path]));
  }
  await until(async () => {
    const { body } = await rig.gateway.admin('GET', '/status');
    const counts = (body['plugins'] as Record<string, Record<string, number>>)['body-validator'];
    return counts?.['wrong_answers'] === 3;
  });
});

test('refuses invalid answers when enforced', async () => {
  for (const [path, status] of [
    ['/right', 200],
    ['/wrong', 502],
    ['/broken', 502],
    ['/coded', 502],
    ['/large', 502],
  ] as const) {
    const answer = await ask(`/enforced${path}`);
    assert.equal(answer.status, status, path);
    if (status === 502) assert.doesNotMatch(answer.text, /item|xxx/);
  }
});
