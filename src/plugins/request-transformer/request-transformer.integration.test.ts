import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { answer, answerEach } from '../../../test/support/raw-backend.ts';
import { runReadme } from '../../../test/support/readme-commands.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';

let rig: Rig;
let serial = 0;

/** Answers with what it received. */
const echo = answerEach(({ method, target, lines, body }) =>
  answer(JSON.stringify({ method, target, headers: lines.map((line) => line.join(': ').toLowerCase()), body })),
);

before(async () => {
  rig = await startRig({ script: echo, settings: { plugins: ['request-transformer', 'key-auth'], workers: 2 } });
});
after(() => rig.close());

async function route(config: Readonly<Record<string, unknown>>, fields: object = {}): Promise<string> {
  const name = `r${serial++}`;
  await rig.write('PUT', `/services/backend/routes/${name}`, { paths: [`/${name}`], ...fields });
  await rig.write('POST', `/routes/${name}/plugins`, { name: 'request-transformer', config });
  return `${rig.gateway.proxyUrl}/${name}`;
}

test('changes headers, query, path and method', async () => {
  const url = await route({
    http_method: 'PUT',
    remove: { headers: ['X-Gone', 'Accept-Language'] },
    replace: { uri: '/fixed/$(query_params.id)', headers: ['Host:internal.example'] },
    add: { headers: ['X-Id:$(query_params.id)'], querystring: ['extra:1'] },
  });
  const response = await fetch(`${url}/x?id=a%2Fb`, { method: 'POST', headers: { 'x-gone': '1' }, body: 'text' });
  const got = (await response.json()) as { headers: string[]; [name: string]: unknown };
  assert.equal(got['method'], 'PUT');
  assert.equal(got['target'], '/fixed/a%2Fb?id=a%2Fb&extra=1');
  assert.equal(got['body'], 'text');
  assert.ok(got.headers.includes('host: internal.example'));
  assert.ok(got.headers.includes('x-id: a/b'));
  assert.equal(
    got.headers.find((line) => /^(?:x-gone|accept-language):/.test(line)),
    undefined,
  );
});

test('changes a JSON body that is compressed, large or chunked, and refuses one that is too large', async () => {
  const url = await route({ remove: { body: ['secret'] }, add: { body: ['a.b:1'] }, max_body_size: 2_000_000 });
  const headers = { 'content-type': 'application/json' };
  const send = async (body: string | Uint8Array<ArrayBuffer>, more: Record<string, string> = {}) =>
    fetch(url, { method: 'POST', headers: { ...headers, ...more }, body });
  const zipped = await send(new Uint8Array(gzipSync('{"secret":1,"k":2}')), { 'content-encoding': 'gzip' });
  const got = (await zipped.json()) as { body: string; headers: unknown };
  assert.equal(got.body, '{"k":2,"a":{"b":"1"}}');
  assert.doesNotMatch(JSON.stringify(got.headers), /content-encoding/i);

  const filler = 'x'.repeat(1_000_000);
  const large = (await (await send(`{"secret":1,"k":"${filler}"}`)).json()) as { body: string };
  assert.equal(large.body, `{"k":"${filler}","a":{"b":"1"}}`);

  const chunks = new ReadableStream({
    start(controller) {
      for (const piece of ['{"sec', 'ret":1,', '"k":3}']) controller.enqueue(Buffer.from(piece));
      controller.close();
    },
  });
  const chunked = await fetch(url, { method: 'POST', headers, body: chunks, duplex: 'half' });
  assert.equal(((await chunked.json()) as { body: string }).body, '{"k":3,"a":{"b":"1"}}');

  assert.equal((await send(`"${'x'.repeat(2_000_001)}"`)).status, 413);
  const bomb = gzipSync(`"${'x'.repeat(20_000_000)}"`);
  assert.equal((await send(new Uint8Array(bomb), { 'content-encoding': 'gzip' })).status, 413);
  assert.equal((await send('{', { 'content-encoding': 'unknown' })).status, 415);
  assert.equal((await send('{"a":}')).status, 400);
  const largeFault = await send(`{"k":"${filler}",\n oops}`);
  assert.equal(largeFault.status, 400);
  assert.match(await largeFault.text(), /line 2, column 2/);
});

test('gives templates the identity of the client, never its claims', async () => {
  const url = await route({ add: { headers: ["X-Who:$(headers['x-consumer-username'] or 'nobody')"] } });
  const name = url.slice(url.lastIndexOf('/') + 1);
  const who = async (headers: Record<string, string>) =>
    /x-who: (\w+)/.exec(await (await fetch(url, { headers })).text())?.[1];
  assert.equal(await who({ 'x-consumer-username': 'root' }), 'nobody');
  await rig.write('PUT', '/consumers/ada', {});
  await rig.write('POST', '/consumers/ada/key-auth', { key: 'secret' });
  await rig.write('POST', `/routes/${name}/plugins`, { name: 'key-auth' });
  assert.equal(await who({ 'x-consumer-username': 'root', apikey: 'secret' }), 'ada');
});

test('accepts the examples of the README', async () => {
  const readme = new URL('./README.md', import.meta.url);
  // The backend in the README is an upstream here.
  await rig.write('PUT', '/upstreams/users.internal', {});
  await rig.write('POST', '/upstreams/users.internal/targets', { target: `127.0.0.1:${rig.backend.port}` });
  const [user, order] = await runReadme(readme, rig.gateway);
  assert.match(user?.output ?? '', /"target":"\/v2\/people\/42\?page=1"/);
  assert.match(user?.output ?? '', /x-caller/i);
  assert.doesNotMatch(user?.output ?? '', /x-debug/i);
  const { body } = JSON.parse(order?.output ?? '{}') as { body: string };
  assert.equal(body, '{"customer":{"email":"ada@example.com"},"items":[{"sku":"a"}],"meta":{"channel":"web"}}');
});

test('keeps values of path, query and consumer from becoming a header line or another path', async () => {
  const captures = await route(
    { replace: { uri: '/new/$(uri_captures.rest)/end' }, add: { headers: ['X-Rest:$(uri_captures.rest)'] } },
    { paths: ['~/captured/(?<rest>.*)$'] },
  );
  const base = captures.slice(0, captures.lastIndexOf('/'));
  const target = async (path: string) => {
    const response = await fetch(`${base}/captured/${path}`);
    if (response.status !== 200) return response.status;
    const { target: sent, headers } = (await response.json()) as { target: string; headers: string[] };
    assert.equal(headers.filter((line) => line.startsWith('x-evil')).length, 0);
    return sent;
  };
  assert.equal(await target('a/b%20c'), '/new/a/b%20c/end');
  assert.equal(await target('a%2Fb'), '/new/a%2Fb/end');
  assert.equal(await target('a%0d%0aX-Evil:%201'), '/new/a%0D%0AX-Evil:%201/end');
  assert.equal(await target('a%3Fx=1%23f'), '/new/a%3Fx=1%23f/end');
  for (const path of ['%2e%2e%2fadmin', 'a%2f..%2fb', 'a%5c..%5cb', '..%3b%2fadmin']) {
    assert.equal(await target(path), 400, path);
  }

  const consumer = await route({
    add: { headers: ['X-Path:/home/$(consumer.username)'] },
    replace: { uri: '/home/$(consumer.username)' },
  });
  const name = consumer.slice(consumer.lastIndexOf('/') + 1);
  await rig.write('POST', `/routes/${name}/plugins`, { name: 'key-auth' });
  for (const [at, username] of ['../root', 'a\r\nX-Evil: 1', 'a b?c#d'].entries()) {
    const { id } = await rig.write('POST', '/consumers', { username });
    await rig.write('POST', `/consumers/${id}/key-auth`, { key: `evil-${at}` });
  }
  const ask = async (apikey: string) => fetch(consumer, { headers: { apikey } });
  assert.equal((await ask('evil-0')).status, 400);
  assert.ok((await ask('evil-1')).status >= 400);
  assert.equal(((await (await ask('evil-2')).json()) as { target: string }).target, '/home/a%20b%3Fc%23d');
});
