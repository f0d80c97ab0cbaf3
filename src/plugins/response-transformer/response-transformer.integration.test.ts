import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { answer, answerEach } from '../../../test/support/raw-backend.ts';
import { runReadme } from '../../../test/support/readme-commands.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';

let rig: Rig;
let serial = 0;
const json = 'Content-Type: application/json\r\n';
const order = '{"customer": {"mail": "ada@example.com"}, "items": [{"sku": "a", "cost": 3}]}';
const large = `{"secret":1,"k":"${'x'.repeat(1_000_000)}"}`;

const bodies: Readonly<Record<string, () => string>> = {
  plain: () => answer('{"secret":1,"k":2}', json),
  gzip: () => answer(gzipSync('{"secret":1,"k":2}').toString('latin1'), `${json}Content-Encoding: gzip\r\n`),
  brotli: () => answer(brotliCompressSync('{"secret":1,"k":2}').toString('latin1'), `${json}Content-Encoding: br\r\n`),
  broken: () => answer('not gzip', `${json}Content-Encoding: gzip\r\n`),
  bomb: () => answer(gzipSync('x'.repeat(20_000_000)).toString('latin1'), `${json}Content-Encoding: gzip\r\n`),
  large: () => answer(large, json),
  larger: () => answer(`"${'x'.repeat(3_000_000)}"`, json),
  malformed: () => answer('{"secret":1', json),
  chunked: () =>
    `HTTP/1.1 200 OK\r\n${json}Transfer-Encoding: chunked\r\n\r\n5\r\n{"sec\r\n9\r\nret":1,"k\r\n4\r\n":2}\r\n0\r\n\r\n`,
  file: () => answer('x'.repeat(5_000_000), 'Content-Type: application/octet-stream\r\n'),
  orders: () => answer(order, `${json}X-Powered-By: PHP\r\n`),
};

before(async () => {
  const script = answerEach(({ method, target }) => {
    const made = bodies[target.slice(target.lastIndexOf('/') + 1)]?.() ?? answer('none', '', '404 Not Found');
    return method === 'HEAD' ? made.slice(0, made.indexOf('\r\n\r\n') + 4) : made;
  });
  rig = await startRig({ script, settings: { plugins: ['response-transformer'], workers: 2 } });
});
after(() => rig.close());

async function route(config: Readonly<Record<string, unknown>>): Promise<string> {
  const name = `r${serial++}`;
  await rig.write('PUT', `/services/backend/routes/${name}`, { paths: [`/${name}`] });
  await rig.write('POST', `/routes/${name}/plugins`, { name: 'response-transformer', config });
  return `${rig.gateway.proxyUrl}/${name}`;
}

test('changes JSON in any content coding and framing', async () => {
  const url = await route({ remove: { json: ['secret'] }, add: { json: ['a.b:1'], headers: ['X-A:1'] } });
  for (const name of ['plain', 'gzip', 'brotli', 'chunked']) {
    const response = await fetch(`${url}/${name}`);
    const body = await response.text();
    assert.deepEqual([response.status, body], [200, '{"k":2,"a":{"b":"1"}}'], name);
    assert.equal(response.headers.get('content-length'), String(body.length), name);
    assert.equal(response.headers.get('content-encoding'), null, name);
    assert.equal(response.headers.get('x-a'), '1');
  }
  const changed = await (await fetch(`${url}/large`)).text();
  assert.equal(changed, `{"k":"${'x'.repeat(1_000_000)}","a":{"b":"1"}}`);
});

test('never sends an answer that should be changed but cannot be', async () => {
  const url = await route({ remove: { json: ['secret'] }, max_body_size: 2_000_000 });
  for (const name of ['malformed', 'broken', 'bomb', 'larger']) {
    const response = await fetch(`${url}/${name}`, { headers: { accept: 'application/json' } });
    assert.equal(response.status, 502, name);
    assert.doesNotMatch(await response.text(), /secret|xxx/);
  }
});

test('sends no length of unchanged content for HEAD, and streams other types', async () => {
  const url = await route({ remove: { json: ['secret'] } });
  const head = await fetch(`${url}/plain`, { method: 'HEAD' });
  assert.deepEqual([head.status, head.headers.get('content-length')], [200, null]);
  const file = await fetch(`${url}/file`);
  assert.equal(file.headers.get('content-length'), '5000000');
  assert.equal((await file.arrayBuffer()).byteLength, 5_000_000);
});

test('changes headers of refusals', async () => {
  const url = await route({ add: { headers: ['X-Any:$(response.status)'] } });
  assert.equal((await fetch(`${url}/unknown`)).headers.get('x-any'), '404');
});

test('accepts the examples of the README', async () => {
  await rig.write('PUT', '/upstreams/orders.internal', {});
  await rig.write('POST', '/upstreams/orders.internal/targets', { target: `127.0.0.1:${rig.backend.port}` });
  const [orders] = await runReadme(new URL('./README.md', import.meta.url), rig.gateway);
  const output = orders?.output ?? '';
  assert.match(output, /x-status: 200/i);
  assert.doesNotMatch(output, /powered/i);
  assert.ok(
    output.endsWith('{"customer":{"email":"ada@example.com"},"items":[{"sku":"a"}],"api":{"version":2}}'),
    output,
  );
});
