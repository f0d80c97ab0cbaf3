import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { threadCpuTime } from '../../shared/util/time/thread-cpu-time.ts';
import { createTestGateway, NoAnswerError, pluginInstance, simpleConfig } from '../index.ts';
import { probePlugin } from './probe.fixture.ts';

const plain = probePlugin(() => ({}));

test('a request passes the plugin and reaches the backend', async () => {
  const plugin = probePlugin(({ mark }) => ({
    access: (context) => void context.upstream.setHeader('X-Mark', mark),
    headerFilter: ({ response }) => response.setHeader('X-Seen', 'yes'),
  }));
  await using gateway = await createTestGateway({
    plugins: [plugin],
    config: simpleConfig(pluginInstance(plugin, { mark: 'one' })),
    onRequest: () => ({ status: 201, headers: { 'set-cookie': ['a=1', 'b=2'] }, body: 'made' }),
  });
  for (const http2 of [false, true]) {
    const answer = await gateway.request({ method: 'POST', path: '/a?b=c', body: 'text', http2 });
    assert.deepEqual([answer.status, answer.body, answer.ok, answer.complete], [201, 'made', true, true]);
    assert.deepEqual(answer.headerValues('set-cookie'), ['a=1', 'b=2']);
    assert.equal(answer.headers.get('x-seen'), 'yes');
    assert.equal(answer.httpVersion, http2 ? '2' : '1.1');
    assert.deepEqual(statusOf(answer.record), 201);
  }
  const [first, second] = gateway.backend.requests;
  for (const request of [first, second]) {
    assert.deepEqual([request?.method, request?.path, request?.body], ['POST', '/a?b=c', 'text']);
    assert.deepEqual(
      [request?.header('x-mark'), request?.address, request?.complete],
      ['one', 'backend.test:80', true],
    );
  }
  assert.equal(gateway.records.length, 2);
  assert.equal(gateway.numbers()['requests'], 2);
});

test('an invalid config is refused with everything that is wrong with it', async () => {
  await assert.rejects(createTestGateway({ config: { services: [{ name: 'a' }], plugins: [{ name: 'no-such' }] } }), {
    name: 'TypeError',
    message: /services\.0: .*host.*[\s\S]*plugins\.0: .*no-such/,
  });
  await assert.rejects(createTestGateway({ settings: { no_such: '1' } }), /unknown setting/);
});

test('timers and dates of plugins follow the clock, those of the test do not', async () => {
  const plugin = probePlugin(() => ({
    async access(context) {
      const begun = performance.now();
      await wait(60_000);
      context.upstream.setHeader('X-Waited', `${performance.now() - begun} ${new Date().toISOString()}`);
    },
  }));
  const start = Date.UTC(2030, 0, 1);
  await using gateway = await createTestGateway({ plugins: [plugin], clock: { start } });
  const { answer } = gateway.start();
  await gateway.clock.advance(59_999);
  assert.equal(gateway.backend.requests.length, 0);
  await gateway.clock.advance(1);
  assert.equal((await answer).status, 200);
  assert.equal(gateway.backend.requests[0]?.header('x-waited'), '60000 2030-01-01T00:01:00.000Z');
  assert.equal(gateway.clock.now(), start + 60_000);
  assert.ok(Date.now() < start, 'the time of the test is that of the machine');
});

test('a limit of requests a minute is over when the clock is moved', async () => {
  await using gateway = await createTestGateway({
    config: simpleConfig({ name: 'rate-limiting', config: { minute: 2, policy: 'local' } }),
  });
  const statuses = async () => [
    (await gateway.request()).status,
    (await gateway.request()).status,
    (await gateway.request()).status,
  ];
  assert.deepEqual(await statuses(), [200, 200, 429]);
  await gateway.clock.advance(60_000);
  assert.deepEqual(await statuses(), [200, 200, 429]);
});

test('gateways next to each other have clocks and state of their own', async () => {
  const config = simpleConfig({ name: 'rate-limiting', config: { minute: 1, policy: 'local' } });
  const gateways = await Promise.all(Array.from({ length: 8 }, () => createTestGateway({ config })));
  const [first, ...others] = gateways;
  assert.ok(first !== undefined);
  for (const gateway of gateways) assert.equal((await gateway.request()).status, 200);
  await first.clock.advance(60_000);
  assert.equal((await first.request()).status, 200);
  const refused = await Promise.all(others.map((gateway) => gateway.request()));
  assert.deepEqual(new Set(refused.map(({ status }) => status)), new Set([429]));
  await Promise.all(gateways.map((gateway) => gateway.close()));
});

test('with the real clock time passes by itself, also next to a gateway whose time stands still', async () => {
  const plugin = probePlugin(() => ({
    async access(context) {
      await wait(20);
      context.upstream.setHeader('X-Time', String(Date.now()));
    },
  }));
  const real = await createTestGateway({ plugins: [plugin], clock: 'real' });
  const still = await createTestGateway({ plugins: [plugin], clock: { start: 1_000 } });
  const { answer } = still.start();
  assert.equal((await real.request()).status, 200);
  assert.ok(Number(real.backend.requests[0]?.header('x-time')) > 1_000_000);
  assert.equal(still.backend.requests.length, 0, 'its 20 ms have not passed');
  assert.equal((await still.clock.until(answer)).status, 200);
  assert.equal(still.backend.requests[0]?.header('x-time'), '1020');
  await Promise.all([real.close(), still.close()]);
});

test('an edit does not touch a request in flight', async () => {
  const marks: string[] = [];
  const plugin = probePlugin(({ mark }) => ({
    access: (context) => void context.upstream.setHeader('X-Mark', mark),
    headerFilter: ({ response }) => response.setHeader('X-Mark', mark),
    dispose: () => void marks.push(`dispose ${mark}`),
  }));
  const config = (mark: string) => simpleConfig(pluginInstance(plugin, { mark }));
  await using gateway = await createTestGateway({ plugins: [plugin], config: config('old') });
  const answered = Promise.withResolvers<void>();
  gateway.backend.onRequest = async () => {
    await answered.promise;
    return {};
  };
  const before = gateway.start();
  await gateway.clock.settle();
  await gateway.apply(config('new'));
  assert.deepEqual(marks, []);
  const after = gateway.start();
  answered.resolve();
  assert.equal((await before.answer).header('x-mark'), 'old');
  assert.equal((await after.answer).header('x-mark'), 'new');
  assert.deepEqual(marks, ['dispose old']);
  assert.deepEqual(
    gateway.backend.requests.map((request) => request.header('x-mark')),
    ['old', 'new'],
  );
});

test('consumers, credentials and their edits', async () => {
  const config = (key: string) => ({
    ...simpleConfig({ name: 'key-auth' }),
    consumers: [{ username: 'ada', keyauth_credentials: [{ key }] }],
  });
  await using gateway = await createTestGateway({ config: config('one') });
  const status = async (apikey: string) => (await gateway.request({ headers: { apikey } })).status;
  assert.deepEqual([await status('one'), await status('two'), await status('one')], [200, 401, 200]);
  assert.equal(gateway.backend.requests[0]?.header('x-consumer-username'), 'ada');
  await gateway.apply(config('two'));
  assert.deepEqual([await status('one'), await status('two')], [401, 200]);
});

test('functions in a configuration run where the settings allow them', async () => {
  const rewrite = ['() => refuse(418, "short and stout")'];
  const config = { plugins: [{ name: 'pre-function', config: { rewrite } }] };
  await assert.rejects(createTestGateway({ config }), /untrusted_lua/);
  await using gateway = await createTestGateway({ config, settings: { untrusted_lua: 'on' } });
  assert.equal((await gateway.request('/')).status, 418);
});

test('what is refused before a route is found runs through `log`, whichever phases the plugin has', async () => {
  const seen: unknown[] = [];
  const plugin = probePlugin(() => ({ log: (context) => void seen.push(context.record()['route'] ?? null) }));
  const settings = { nginx_http_client_max_body_size: '1k' };
  await using gateway = await createTestGateway({ plugins: [plugin], settings });
  assert.equal((await gateway.request('/%2e%2e/%2f')).status, 400);
  assert.equal((await gateway.request({ method: 'POST', body: 'x'.repeat(1_025) })).status, 413);
  assert.deepEqual(seen, [null, null]);
});

test('nothing is left open, and the functions of the thread are the original ones again', async () => {
  const { setTimeout: timeout, Date: date } = globalThis;
  const listeners = process.listenerCount('unhandledRejection');
  const before = process.getActiveResourcesInfo();
  const gateway = await createTestGateway({ onRequest: () => 'hang' });
  assert.notEqual(globalThis.Date, date);
  const { answer } = gateway.start();
  const second = gateway.start({ http2: true });
  await gateway.clock.settle();
  await gateway.close();
  await assert.rejects(second.answer, NoAnswerError);
  await assert.rejects(answer, NoAnswerError);
  await assert.rejects(async () => gateway.request(), /closed/);
  assert.deepEqual(process.getActiveResourcesInfo(), before);
  assert.equal(globalThis.Date, date);
  assert.equal(globalThis.setTimeout, timeout);
  assert.equal(process.listenerCount('unhandledRejection'), listeners);
});

test('what a plugin writes to the store is found, and expires', async () => {
  const plugin = probePlugin((_, tools) => ({
    async access(context) {
      const found = await tools.entities.find('consumers', 'username', 'new');
      if (found === null) await tools.entities.insert('consumers', { username: 'new' });
      context.upstream.setHeader('X-Found', String(found !== null));
      tools.count('seen');
    },
  }));
  await using gateway = await createTestGateway({ plugins: [plugin] });
  await gateway.request();
  await gateway.request();
  assert.deepEqual(
    gateway.backend.requests.map((request) => request.header('x-found')),
    ['false', 'true'],
  );
  assert.equal(gateway.counts.get('probe.seen'), 2);
});

test('to make one takes less than 50 ms of CPU', async () => {
  await (await createTestGateway({ plugins: [plain] })).close();
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 5; tries++) {
    const begun = threadCpuTime();
    const gateway = await createTestGateway({ plugins: [plain] });
    least = Math.min(least, threadCpuTime() - begun);
    await gateway.close();
  }
  assert.ok(least < 50, `${least} ms`);
});

function statusOf(record: Readonly<Record<string, unknown>> | null): number | undefined {
  return (record?.['response'] as { readonly status: number } | undefined)?.status;
}
