import assert from 'node:assert/strict';
import { get } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { skipWithoutRedis, startRedis, type TestRedis } from '../../../test/support/redis.ts';
import { until } from '../../../test/support/until.ts';

type Config = Readonly<Record<string, unknown>>;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

let backend: TestBackend;
let gateway: TestGateway;

before(async () => {
  backend = await startBackend({
    handler: (request, response) => {
      const cost = new URL(request.url ?? '/', 'http://backend').searchParams.get('cost') ?? '';
      response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': 4, 'X-Kong-Limit': cost });
      response.end('film');
    },
  });
  gateway = await startTestGateway({ settings: { plugins: ['response-ratelimiting'], workers: 2 } });
  await created('/services', { name: 'films', url: backend.url });
  await created('/services/films/routes', { name: 'films', paths: ['/'] });
});
after(async () => {
  await gateway.stop();
  await backend.close();
});

async function created(path: string, body: Config): Promise<string> {
  const answer = await gateway.admin('POST', path, body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return String(answer.body['id']);
}

async function withLimits(config: Config, use: () => Promise<void>): Promise<void> {
  const id = await created('/plugins', { name: 'response-ratelimiting', config });
  try {
    await use();
  } finally {
    await gateway.admin('DELETE', `/plugins/${id}`);
  }
}

/** On a new connection; fails unless the answer is framed correctly. */
function request(cost: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    get(`${gateway.proxyUrl}/?cost=${encodeURIComponent(cost)}`, { agent: false }, (response) => {
      let body = '';
      response.setEncoding('latin1');
      response.on('data', (piece: string) => {
        body += piece;
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    }).on('error', reject);
  });
}

describe('over a real gateway', () => {
  for (const policy of ['local', 'cluster']) {
    it(`counts with the policy ${policy}, and replaces the body of refused answers`, async () => {
      await withLimits({ policy, limits: { video: { hour: 3 } } }, async () => {
        const first = await request('video=2');
        assert.deepEqual([first.status, first.body, first.headers['content-length']], [200, 'film', '4']);
        assert.equal(first.headers['x-ratelimit-remaining-video-hour'], '1');
        assert.equal(first.headers['x-kong-limit'], undefined);
        await until(async () => (await request('')).headers['x-ratelimit-remaining-video'] === '1');
        assert.equal((await request('video=2')).status, 200);
        await until(async () => (await request('')).headers['x-ratelimit-remaining-video'] === '0');
        const refused = await request('video=1');
        assert.deepEqual([refused.status, refused.body], [429, '']);
        assert.ok(['0', undefined].includes(refused.headers['content-length'] as string | undefined));
      });
    });
  }

  describe('with Redis', { skip: skipWithoutRedis() }, () => {
    let redis: TestRedis;
    before(async () => {
      redis = await startRedis();
    });
    after(() => redis.stop());

    it('continues while Redis hangs or is down, and counts again afterwards', async () => {
      const server = { host: redis.host, port: redis.port, timeout: 300 };
      await withLimits({ policy: 'redis', redis: server, limits: { video: { hour: 1000 } } }, async () => {
        await request('video=1');
        await until(async () => (await request('')).headers['x-ratelimit-remaining-video'] === '999');
        redis.hang();
        const slowest = await timeOf(() => Promise.all(Array.from({ length: 20 }, () => passesUncounted())));
        assert.ok(slowest < 4000, `${slowest} ms`);
        redis.resume();
        await until(async () => (await request('')).headers['x-ratelimit-remaining-video'] === '999');
        await redis.kill();
        await passesUncounted();
        await redis.restart();
        await until(async () => (await request('')).headers['x-ratelimit-remaining-video'] === '1000');
      });
      await until(async () => {
        const status = (await (await fetch(`${gateway.statusUrl}/status`)).json()) as { plugins?: unknown };
        return JSON.stringify(status.plugins).includes('limiter_failures');
      });
    });

    it('answers 500 while Redis is down without fault_tolerant', async () => {
      const server = { host: redis.host, port: 1, timeout: 300 };
      const config = { policy: 'redis', redis: server, fault_tolerant: false, limits: { video: { hour: 1 } } };
      await withLimits(config, async () => {
        const { status, body } = await request('');
        assert.equal(status, 500);
        assert.doesNotMatch(body, /[Rr]edis|127\.0\.0\.1/);
      });
    });
  });
});

async function passesUncounted(): Promise<void> {
  const { status, body, headers } = await request('video=1');
  assert.deepEqual([status, body, headers['x-ratelimit-remaining-video']], [200, 'film', undefined]);
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
