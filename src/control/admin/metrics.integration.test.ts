import assert from 'node:assert/strict';
import { get, type IncomingMessage } from 'node:http';
import { after, before, test } from 'node:test';
import { until } from '../../../test/support/until.ts';
import type { MetricFamily } from '../../plugin-sdk/metrics.ts';
import { gauge } from '../metrics/families.ts';
import { startTestAdmin, type TestAdmin } from './admin.fixture.ts';
import type { MetricsFacts } from './contract.ts';

let admin: TestAdmin;
let open = 0;

before(async () => {
  admin = await startTestAdmin();
});
after(() => admin[Symbol.asyncDispose]());

function setMetrics(facts: Partial<MetricsFacts>): void {
  Object.assign(admin.deps.metrics, { enabled: () => true, failed: assert.fail, ...facts });
}

/** Far more than fits into the buffers between two sockets. */
function endless(): MetricFamily {
  const series = {
    *[Symbol.iterator]() {
      open++;
      try {
        for (let at = 0; at < 10_000_000; at++) yield { labels: [`value ${at}`], value: at };
      } finally {
        open--;
      }
    },
  };
  return { ...gauge('g', 'G', ['l'], []), series };
}

/** An answer that is not read. */
function hang(base: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(`${base}/metrics`, { agent: false }, (response) => {
      response.on('error', () => {});
      resolve(response.pause());
    }).on('error', reject);
  });
}

test('without the plugin prometheus there is no page', async () => {
  setMetrics({ enabled: () => false });
  for (const base of [admin.url, admin.statusUrl]) assert.equal((await fetch(`${base}/metrics`)).status, 404);
});

test('both listeners serve the same page, also for HEAD and OPTIONS', async () => {
  setMetrics({ collect: async () => [gauge('g', 'G', [], [[1]])] });
  for (const base of [admin.url, admin.statusUrl]) {
    const page = await fetch(`${base}/metrics`);
    assert.equal(page.headers.get('content-type'), 'text/plain; charset=UTF-8');
    assert.equal(await page.text(), '# HELP g G\n# TYPE g gauge\ng 1\n');
    const head = await fetch(`${base}/metrics`, { method: 'HEAD' });
    assert.deepEqual([head.status, await head.text()], [200, '']);
    assert.equal((await fetch(`${base}/metrics`, { method: 'OPTIONS' })).headers.get('allow'), 'GET, HEAD, OPTIONS');
    assert.equal((await fetch(`${base}/metrics`, { method: 'POST' })).status, 405);
  }
  const { json } = await admin.call('GET', '/openapi.json');
  const paths = json['paths'] as Record<string, { readonly get?: { readonly summary?: string } }>;
  assert.match(paths['/metrics']?.get?.summary ?? '', /Prometheus/);
});

test('a few scrapes run at the same time, and one whose client disconnected frees its slot', async () => {
  setMetrics({ collect: async () => [endless()] });
  const hanging = await Promise.all([admin.url, admin.url, admin.statusUrl, admin.statusUrl].map(hang));
  const fifth = await fetch(`${admin.statusUrl}/metrics`);
  assert.equal(fifth.status, 503);
  assert.equal(fifth.headers.get('retry-after'), '1');
  for (const response of hanging) response.destroy();
  await until(() => open === 0);
  setMetrics({ collect: async () => [] });
  await until(async () => (await fetch(`${admin.statusUrl}/metrics`)).status === 200);
});

test('a collection that fails is a 500, and frees its slot', async () => {
  setMetrics({ collect: () => Promise.reject(new Error('broken')) });
  for (let at = 0; at < 6; at++) assert.equal((await fetch(`${admin.url}/metrics`)).status, 500);
  setMetrics({ collect: async () => [] });
  assert.equal((await fetch(`${admin.url}/metrics`)).status, 200);
});
