import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answer, type BackendScript, type RawBackend, startRawBackend } from '../../../test/support/raw-backend.ts';
import { openClient } from '../../../test/support/raw-client.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';
import { until } from '../../../test/support/until.ts';

let rig: Rig;
let ailing: RawBackend;

/** Answers 503, except to requests for silence, which get no answer. */
const ail: BackendScript = async (connection) => {
  for (;;) {
    const request = await connection.readRequest();
    if (request.target.includes('silence')) {
      await connection.closed;
      return;
    }
    if (request.target.includes('reset')) {
      connection.reset();
      return;
    }
    connection.write(answer('ailing', '', '503 Service Unavailable'));
  }
};

before(async () => {
  rig = await startRig({ settings: { plugins: ['retries', 'timeouts'], workers: 2 } });
  ailing = await startRawBackend(ail);
  await rig.write('PUT', '/upstreams/pair', {});
  await rig.write('POST', '/upstreams/pair/targets', { target: `127.0.0.1:${ailing.port}` });
  await rig.write('POST', '/upstreams/pair/targets', { target: `127.0.0.1:${rig.backend.port}` });
  await rig.write('PUT', '/services/pair', { host: 'pair' });
  await rig.write('PUT', '/services/ailing', { url: ailing.url });
});
after(async () => {
  await rig.close();
  await ailing.close();
});

let serial = 0;

async function route(service: string, config: Readonly<Record<string, unknown>>): Promise<string> {
  const name = `r${serial++}`;
  await rig.write('PUT', `/services/${service}/routes/${name}`, { paths: [`/${name}`] });
  await rig.write('POST', `/routes/${name}/plugins`, {
    name: 'retries',
    config: { backoff: 0, budget_min: 100, ...config },
  });
  return `/${name}`;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly timeout: string | undefined;
}

async function ask(path: string, method = 'GET', body = ''): Promise<Answer> {
  using client = await openClient(rig.port);
  const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`;
  client.write(`${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${length}\r\n${body}`);
  const response = await client.readResponse();
  return { status: response.status, body: response.body, timeout: response.all('x-upstream-timeout')[0] };
}

async function statuses(times: number, path: string, method = 'GET', body = ''): Promise<readonly number[]> {
  const answers = await Promise.all(Array.from({ length: times }, () => ask(path, method, body)));
  return [...new Set(answers.map(({ status }) => status))].sort();
}

test('retries a configured status at another target, and forwards other statuses', async () => {
  const good = await route('pair', { on: ['status'], statuses: [503] });
  assert.deepEqual(await statuses(12, good), [200]);
  const other = await route('pair', { on: ['status'], statuses: [500] });
  assert.deepEqual(await statuses(12, other), [200, 503]);
  const failures = await route('pair', { on: ['timeout'] });
  assert.deepEqual(await statuses(12, failures), [200, 503]);
});

test('sends the whole body again, only with a configured method', async () => {
  const path = await route('pair', { on: ['status'], statuses: [503] });
  const body = 'b'.repeat(20_000);
  assert.deepEqual(await statuses(6, path, 'PUT', body), [200]);
  const bodies = rig.backend.requests.filter(({ method }) => method === 'PUT').map((request) => request.body.length);
  assert.deepEqual([...new Set(bodies)], [20_000]);
  assert.deepEqual(await statuses(12, path, 'POST', body), [200, 503]);
  const posts = await route('pair', { on: ['status'], statuses: [503], methods: ['POST'] });
  assert.deepEqual(await statuses(12, posts, 'POST', body), [200]);
  assert.deepEqual(await statuses(12, posts), [200, 503]);
});

test('tries another target when the connection breaks or the attempt times out', async () => {
  const broken = await route('pair', { on: ['broken-answer'] });
  assert.deepEqual(await statuses(8, `${broken}/reset`), [200]);
  const slow = await route('pair', { on: ['timeout'], try_timeout: 150 });
  const begun = performance.now();
  assert.deepEqual(await statuses(8, `${slow}/silence`), [200]);
  assert.ok(performance.now() - begun < 5_000);
});

test('limits the time of all attempts, and forwards the remaining time', async () => {
  const path = await route('ailing', {
    on: ['timeout'],
    try_timeout: 200,
    total_timeout: 500,
    retries: 10,
    budget_min: 100,
  });
  const begun = performance.now();
  const { status, timeout } = await ask(`${path}/silence`);
  const took = performance.now() - begun;
  assert.deepEqual([status, timeout], [504, 'total']);
  assert.ok(took >= 450 && took < 3_000, `${took} ms`);
  const left = ailing.requests
    .filter(({ target }) => target.endsWith('/silence'))
    .map((request) => Number(request.all('x-request-timeout')[0]))
    .filter((milliseconds) => milliseconds > 0);
  assert.ok(left.length >= 2, String(left));
  assert.ok(
    left.every((milliseconds, at) => milliseconds <= 500 - at * 150),
    String(left),
  );
});

test('forwards the last answer after its retries', async () => {
  const before = ailing.requests.length;
  const path = await route('ailing', { on: ['status'], statuses: [503], retries: 3 });
  const { status, body } = await ask(path);
  assert.deepEqual([status, body], [503, 'ailing']);
  assert.equal(ailing.requests.length - before, 4);
});

test('keeps the retry budget over all workers', async () => {
  const path = await route('ailing', {
    on: ['status'],
    statuses: [503],
    retries: 5,
    budget_percent: 10,
    budget_min: 0,
  });
  const before = ailing.requests.length;
  assert.deepEqual(await statuses(40, path), [503]);
  // At most 40 are live at once, so 4 concurrent retries. Without a budget there would be 200.
  const retries = ailing.requests.length - before - 40;
  assert.ok(retries < 100, `${retries} retries`);
  const none = await route('ailing', { on: ['status'], statuses: [503], budget_percent: 0, budget_min: 0 });
  const beforeNone = ailing.requests.length;
  await statuses(10, none);
  assert.equal(ailing.requests.length - beforeNone, 10);
  await until(async () => {
    const { body } = await rig.gateway.admin('GET', '/status');
    const counts = (body['plugins'] as Record<string, Record<string, number>>)['retries'] ?? {};
    return (counts['budget_spent'] ?? 0) >= 10;
  });
});
