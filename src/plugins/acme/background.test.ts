import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { testSettings } from '../../plugin-testing/index.ts';
import { background } from './background.ts';
import { challengeCertificate } from './certificates.ts';
import { memoryStore } from './memory-store.fixture.ts';
import { AcmeRecords } from './records.ts';
import type { AcmeConfig } from './schema.ts';

const both = await challengeCertificate('a.example.com', 'x.y');
const issued = { cert: both.slice(both.indexOf('-----BEGIN CERT')), key: 'key' };

/** The background task without an authority: every order fails at once. */
function rig(t: TestContext, change: Partial<AcmeConfig> = {}) {
  const store = memoryStore();
  const ending = new AbortController();
  const lines: string[] = [];
  const write = (message: string) => lines.push(message);
  const part = background({
    log: { debug: write, info: write, warn: write, error: write },
    settings: testSettings,
    metrics: () => Promise.resolve([]),
    count: () => {},
    zone: () => null,
    broadcast: async () => false,
    nodeId: 'one',
    store,
    signal: ending.signal,
  });
  const config = {
    account_email: 'ada@example.com',
    api_uri: 'http://127.0.0.1:1/dir',
    domains: ['*.example.com'],
    eab_kid: null,
    eab_hmac_key: null,
    fail_backoff_minutes: 5,
    renew_threshold_days: 14,
    ...change,
  } as AcmeConfig;
  part.configured([{ id: 'x', config }]);
  t.after(async () => {
    ending.abort();
    await part.stop();
  });
  const failed = () => store.rows('acme_storage').flatMap(({ key }) => /^failure:(.*)$/.exec(String(key))?.[1] ?? []);
  return { part, store, lines, failed };
}

async function until(reached: () => boolean): Promise<void> {
  for (let turns = 0; !reached(); turns++) {
    assert.ok(turns < 100_000, 'it was never reached');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('the background task', () => {
  it('renews certificates that are due', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.now() });
    const { store, failed } = rig(t);
    const records = new AcmeRecords(store, 'before');
    const claim = await records.claim({ host: 'a.example.com', manual: true, due: () => false });
    assert.equal(claim.kind === 'claimed' && (await records.save('a.example.com', claim.lease, issued)), 'saved');
    t.mock.timers.tick(80_000);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(failed(), []);
    // The last third of its lifetime has begun.
    t.mock.timers.tick(20 * 3600_000);
    await until(() => failed().length === 1);
    assert.deepEqual(failed(), ['a.example.com']);
  });

  it('processes a limited number of hosts one by one, at most half of them of one client', async (t) => {
    const { part, lines } = rig(t);
    const wanted = (client: string): Promise<unknown[]> =>
      Promise.all(
        Array.from({ length: 150 }, (_, at) =>
          part.handle({ type: 'wanted', host: `h${at}-${client}.example.com`, client }),
        ),
      );
    const counts = [];
    for (const client of ['a', 'b', 'c'])
      counts.push((await wanted(client)).filter((answer) => answer === true).length);
    assert.ok((counts[0] ?? 0) <= 60 && (counts[1] ?? 0) >= 50 && (counts[2] ?? 0) >= 30, String(counts));
    assert.equal(lines.filter((line) => line.startsWith('too many hosts wait')).length, 1);
  });

  it('pauses a host after a failure, and ignores hosts that are not allowed', async (t) => {
    const { part, failed, store } = rig(t);
    assert.equal(await part.handle({ type: 'wanted', host: 'a.other.test', client: 'a' }), false);
    assert.equal(await part.handle({ type: 'wanted', host: 'A.example.com.', client: 'a' }), true);
    await until(
      () => failed().length === 1 && !store.rows('acme_storage').some(({ key }) => String(key).startsWith('lease:')),
    );
    await until(() => failed().includes('a.example.com'));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(await part.handle({ type: 'wanted', host: 'a.example.com', client: 'a' }), false);
    const { kind } = (await part.handle({ type: 'issue', host: 'b.other.test' })) as { kind: string };
    assert.equal(kind, 'refused');
  });
});
