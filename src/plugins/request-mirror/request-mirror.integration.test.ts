import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answer, type RawBackend, startRawBackend } from '../../../test/support/raw-backend.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';
import { until } from '../../../test/support/until.ts';

let rig: Rig;
let mirror: RawBackend;
let serial = 0;

before(async () => {
  rig = await startRig({ settings: { plugins: ['request-mirror', 'key-auth'] } });
  // Receives every request, and answers all except those that request silence.
  mirror = await startRawBackend(async (connection) => {
    for (;;) {
      const request = await connection.readRequest();
      if (!request.target.includes('silence')) connection.write(answer('a copy', '', '500 Internal Server Error'));
    }
  });
});
after(async () => {
  await rig.close();
  await mirror.close();
});

async function route(config: Readonly<Record<string, unknown>>): Promise<string> {
  const name = `m${serial++}`;
  await rig.write('PUT', `/services/backend/routes/${name}`, { paths: [`/${name}`] });
  await rig.write('POST', `/routes/${name}/plugins`, {
    name: 'request-mirror',
    config: { url: mirror.url, ...config },
  });
  return `/${name}`;
}

function ask(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${rig.gateway.proxyUrl}${path}`, { signal: AbortSignal.timeout(5_000), ...init });
}

test('copies the request of the client, and answers from the backend', async () => {
  const path = await route({ url: `${mirror.url}/base/`, remove_headers: ['Authorization'] });
  const response = await ask(`${path}/x%20y?q=1&q=2`, { headers: { authorization: 'secret', 'x-one': '1' } });
  assert.equal(response.status, 200);
  const copy = await mirror.request(({ target }) => target.startsWith(`/base${path}`));
  assert.equal(copy.target, `/base${path}/x%20y?q=1&q=2`);
  assert.deepEqual([copy.method, copy.all('x-one')[0], copy.all('x-mirrored')[0]], ['GET', '1', '1']);
  assert.equal(copy.all('x-kong-request-id')[0], response.headers.get('x-kong-request-id'));
  assert.deepEqual(copy.all('authorization'), []);
  assert.deepEqual(copy.all('host'), [`127.0.0.1:${mirror.port}`]);
});

test('copies bodies up to the maximum, and only forwards larger ones', async () => {
  const path = await route({ with_body: true, max_body: 10_000 });
  const body = 'b'.repeat(9_000);
  assert.equal((await ask(`${path}/fits`, { method: 'POST', body })).status, 200);
  assert.equal((await mirror.request(({ target }) => target === `${path}/fits`)).body, body);
  assert.equal((await ask(`${path}/large`, { method: 'POST', body: 'c'.repeat(50_000) })).status, 200);
  const passed = await rig.backend.request(({ target }) => target === '/large');
  assert.equal(passed.body.length, 50_000);
  assert.ok(!mirror.requests.some(({ target }) => target === `${path}/large`));
});

test('does not wait for a silent mirror, and limits copies in flight', async () => {
  const path = await route({ max_in_flight: 2, timeout: 60_000 });
  for (let turn = 0; turn < 6; turn++) assert.equal((await ask(`${path}/silence`)).status, 200);
  await until(async () => {
    const { body } = await rig.gateway.admin('GET', '/status');
    const counts = (body['plugins'] as Record<string, Record<string, number>>)['request-mirror'] ?? {};
    return (counts['dropped'] ?? 0) === 4;
  });
  assert.equal(mirror.requests.filter(({ target }) => target === `${path}/silence`).length, 2);
});

test('keeps serving while the mirror is unreachable, and counts failures', async () => {
  const gone = await startRawBackend();
  const path = await route({ url: gone.url });
  await gone.close();
  assert.equal((await ask(path)).status, 200);
  await until(async () => {
    const { body } = await rig.gateway.admin('GET', '/status');
    return ((body['plugins'] as Record<string, Record<string, number>>)['request-mirror']?.['failed'] ?? 0) > 0;
  });
});

test('does not copy refused requests', async () => {
  const path = await route({});
  await rig.write('POST', `/routes/${path.slice(1)}/plugins`, { name: 'key-auth' });
  assert.equal((await ask(`${path}/refused`)).status, 401);
  const other = await route({});
  await ask(`${other}/after`);
  await mirror.request(({ target }) => target === `${other}/after`);
  assert.ok(!mirror.requests.some(({ target }) => target.endsWith('/refused')));
});
