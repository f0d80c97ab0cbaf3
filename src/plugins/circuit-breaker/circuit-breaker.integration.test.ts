import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { answer, answerEach, type RawBackend, startRawBackend } from '../../../test/support/raw-backend.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';
import { until } from '../../../test/support/until.ts';

let rig: Rig;
let ailing: RawBackend;
/** The current answer of the failing backend. */
let status = '500 Internal Server Error';
let serial = 0;

before(async () => {
  rig = await startRig({
    script: answerEach(() => answer('well')),
    settings: { plugins: ['prometheus', 'circuit-breaker'], workers: 2 },
  });
  ailing = await startRawBackend(
    answerEach(async ({ target }) => {
      if (target.endsWith('/slowly')) await delay(5);
      return answer(`ailing ${target}`, '', status);
    }),
  );
});
after(async () => {
  await rig.close();
  await ailing.close();
});

const quick = { min_calls: 4, pause: 0.2, pause_max: 0.4, trials: 2, ramp: 0 };

/** A service over the failing backend and other ones, with its own circuit breaker. */
async function guarded(config: Readonly<Record<string, unknown>>, others: readonly number[] = []): Promise<string> {
  const name = `g${serial++}`;
  await rig.write('PUT', `/upstreams/${name}`, {});
  for (const port of [ailing.port, ...others]) {
    await rig.write('POST', `/upstreams/${name}/targets`, { target: `127.0.0.1:${port}` });
  }
  await rig.write('PUT', `/services/${name}`, { host: name, retries: 0 });
  await rig.write('PUT', `/services/${name}/routes/${name}`, { paths: [`/${name}`] });
  await rig.write('POST', `/services/${name}/plugins`, { name: 'circuit-breaker', config: { ...quick, ...config } });
  return `/${name}`;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

async function ask(path: string): Promise<Answer> {
  const response = await fetch(`${rig.gateway.proxyUrl}${path}`, { headers: { connection: 'close' } });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

async function askTimes(times: number, path: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { status: got } of await Promise.all(Array.from({ length: times }, () => ask(path)))) {
    counts[got] = (counts[got] ?? 0) + 1;
  }
  return counts;
}

test('stops sending to a failing target on all workers, and resumes when it recovers', async () => {
  status = '500 Internal Server Error';
  const path = await guarded({}, [rig.backend.port]);
  await until(async () => ((await askTimes(8, path))[500] ?? 0) === 0);
  const before = ailing.requests.length;
  const counts = await askTimes(20, path);
  assert.ok((counts[200] ?? 0) >= 18, JSON.stringify(counts));
  // Only trial requests reach it.
  assert.ok(ailing.requests.length - before <= 2, String(ailing.requests.length - before));
  status = '200 OK';
  const seen = ailing.requests.length;
  await until(async () => {
    assert.deepEqual(await askTimes(8, path), { 200: 8 });
    return ailing.requests.length - seen > 10;
  });
});

test('refuses for a failing service, and closes by itself', async () => {
  status = '503 Service Unavailable';
  const path = await guarded({ per: ['service'] });
  await until(async () => (await ask(path)).headers.get('retry-after') === '1');
  const reached = ailing.requests.length;
  assert.deepEqual(await askTimes(10, path), { 503: 10 });
  assert.ok(ailing.requests.length - reached <= 2);
  status = '200 OK';
  await until(async () => (await askTimes(6, path))[200] === 6);
});

test('opens on slow calls', async () => {
  status = '200 OK';
  const path = await guarded({
    per: ['service'],
    error_ratio: 0,
    slow_ratio: 50,
    slow_call: 1,
    min_calls: 3,
    pause: 30,
  });
  await until(async () => (await ask(`${path}/slowly`)).status === 503);
});

test('opens on consecutive connection failures', async () => {
  const gone = await startRawBackend();
  const { port } = gone;
  await gone.close();
  const name = `g${serial++}`;
  await rig.write('PUT', `/services/${name}`, { url: `http://127.0.0.1:${port}`, retries: 0 });
  await rig.write('PUT', `/services/${name}/routes/${name}`, { paths: [`/${name}`] });
  const config = { ...quick, error_ratio: 0, consecutive_failures: 3, pause: 30, pause_max: 30 };
  await rig.write('POST', `/services/${name}/plugins`, { name: 'circuit-breaker', config });
  const statuses: number[] = [];
  for (let turn = 0; turn < 5; turn++) statuses.push((await ask(`/${name}`)).status);
  assert.deepEqual(statuses, [502, 502, 502, 503, 503]);
});

test('falls back to an answer, to another upstream and to the last good answer', async () => {
  status = '500 Internal Server Error';
  const fixed = {
    fallback: 'answer',
    fallback_status: 200,
    fallback_content_type: 'text/plain',
    fallback_body: 'later',
  };
  for (const per of ['service', 'target']) {
    const path = await guarded({ per: [per], pause: 30, pause_max: 30, ...fixed });
    await until(async () => (await ask(path)).text === 'later');
  }
  await rig.write('PUT', '/upstreams/west', {});
  await rig.write('POST', '/upstreams/west/targets', { target: `127.0.0.1:${rig.backend.port}` });
  for (const per of ['service', 'target']) {
    const path = await guarded({
      per: [per],
      pause: 30,
      pause_max: 30,
      fallback: 'upstream',
      fallback_upstream: 'west',
    });
    await until(async () => (await ask(path)).text === 'well');
  }
  const path = await guarded({ per: ['service'], pause: 30, pause_max: 30, fallback: 'stale' });
  status = '200 OK';
  // All workers share what one of them has observed.
  await ask(`${path}/page`);
  status = '500 Internal Server Error';
  await until(async () => (await ask(`${path}/other`)).status === 503);
  for (let turn = 0; turn < 10; turn++) {
    const stale = await ask(`${path}/page`);
    assert.deepEqual([stale.status, stale.text], [200, 'ailing /page']);
    assert.match(stale.headers.get('warning') ?? '', /^110 /);
    assert.match(stale.headers.get('age') ?? '', /^\d+$/);
  }
});

test('reports its circuits', async () => {
  status = '500 Internal Server Error';
  const path = await guarded({ pause: 30, pause_max: 30 });
  await until(async () => (await ask(path)).status === 503);
  const name = `127.0.0.1:${ailing.port}`;
  await until(async () => {
    const { body } = await rig.gateway.admin('GET', '/circuit-breakers?state=open');
    const circuits = body['data'] as readonly Record<string, unknown>[];
    return circuits.some(
      (circuit) => circuit['name'] === name && circuit['kind'] === 'target' && circuit['reason'] === 'error-ratio',
    );
  });
  const slip = await rig.gateway.admin('GET', '/circuit-breakers?state=opened');
  assert.equal(slip.status, 400);
  assert.deepEqual(slip.body, { message: 'state must be one of: closed, open, half-open, ramp' });
  await until(async () => {
    const { body } = await rig.gateway.admin('GET', '/status');
    const counts = (body['plugins'] as Record<string, Record<string, number>>)['circuit-breaker'] ?? {};
    return (counts['open'] ?? 0) > 0 && (counts['rejected'] ?? 0) > 0;
  });
  await rig.write('POST', '/plugins', { name: 'prometheus' });
  const page = await (await fetch(`${rig.gateway.statusUrl}/metrics`)).text();
  assert.match(
    page,
    new RegExp(`^sluicegate_circuit_state\\{plugin_instance="[^"]+",kind="target",name="${name}"\\} 3$`, 'm'),
  );
});
