import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { freePort } from '../support/free-port.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { skipWithoutRedis, startRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const workers = 2;
const requests = 600;
const folder = mkdtempSync(join(tmpdir(), 'sluicegate-outage-'));
const file = join(folder, 'error.log');
const agent = new Agent({ keepAlive: true, maxSockets: 16 });
let backend: TestBackend;
let gateway: TestGateway;

before(async () => {
  backend = await startBackend({ handler: (_, response) => void response.end('fine') });
  gateway = await startTestGateway({
    settings: { plugins: ['rate-limiting'], workers },
    env: { KONG_PROXY_ERROR_LOG: file },
  });
});
after(async () => {
  agent.destroy();
  await gateway.stop();
  await backend.close();
  rmSync(folder, { recursive: true, force: true });
});

async function created(path: string, body: Readonly<Record<string, unknown>>): Promise<void> {
  const answer = await gateway.admin('POST', path, body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
}

function statusOf(path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(gateway.proxyUrl + path, { agent }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    }).on('error', reject);
  });
}

const lines = (pattern: RegExp): readonly string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => pattern.test(line));

async function load(path: string, status: number): Promise<void> {
  const statuses = await Promise.all(Array.from({ length: requests }, () => statusOf(path)));
  assert.deepEqual(new Set(statuses), new Set([status]));
}

test('an outage of Redis under load writes a few log lines, not one per request', {
  skip: skipWithoutRedis(),
}, async () => {
  const redis = await startRedis();
  try {
    await created('/services', { name: 'limited', url: backend.url });
    await created('/services/limited/routes', { name: 'limited', paths: ['/limited'] });
    const server = { host: redis.host, port: redis.port, timeout: 500 };
    const config = { hour: 1_000_000, policy: 'redis', redis: server, fault_tolerant: true, sync_rate: -1 };
    await created('/services/limited/plugins', { name: 'rate-limiting', config });
    const before = load('/limited', 200);
    await redis.kill();
    await before;
    await load('/limited', 200);
    await until(() => lines(/the counters are unavailable/).length > 0);
    const written = lines(/counters|[Rr]edis/);
    assert.ok(written.length <= workers * 5, written.join('\n'));
  } finally {
    await redis.stop();
  }
});

test('a backend that refuses connections writes one log line per worker and reason', async () => {
  const port = await freePort();
  await created('/services', { name: 'dead', url: `http://127.0.0.1:${port}`, retries: 2 });
  await created('/services/dead/routes', { name: 'dead', paths: ['/dead'] });
  await load('/dead', 502);
  const failures = /an attempt at a backend failed/;
  await until(() => lines(failures).length > 0);
  const written = lines(failures);
  assert.ok(written.length <= workers, written.join('\n'));
  assert.ok(written[0]?.includes(`127.0.0.1:${port}`));
  assert.match(written[0] ?? '', /ECONNREFUSED/);
});
