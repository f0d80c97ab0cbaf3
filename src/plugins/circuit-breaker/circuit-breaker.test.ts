import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedStore } from '../../plugin-kit/shared-memory/index.ts';
import { testPlugin } from '../../plugin-testing/index.ts';
import circuitBreaker from './index.ts';
import { StaleAnswers } from './stale-answers.ts';

test('refuses an invalid configuration', async () => {
  const plugin = testPlugin(circuitBreaker);
  for (const good of [{}, { per: ['target', 'service'] }, { fallback: 'upstream', fallback_upstream: 'other' }]) {
    assert.equal((await plugin.check(good)).ok, true, JSON.stringify(good));
  }
  for (const bad of [
    { per: [] },
    { per: ['luck'] },
    { error_ratio: 101 },
    { fallback: 'upstream' },
    { fallback: 'magic' },
    { trials: 0 },
    { window: 0 },
  ]) {
    assert.equal((await plugin.check(bad)).ok, false, JSON.stringify(bad));
  }
});

test('accepts requests while nothing has failed', async () => {
  const plugin = testPlugin(circuitBreaker, { config: { per: ['target', 'service'] } });
  assert.equal((await plugin.request()).response.status, 200);
  assert.equal(plugin.counts.size, 0);
});

/** Stores an answer, and returns whether the same request gets it. */
async function isKept(
  request: Readonly<Record<string, string>>,
  answer: Readonly<Record<string, string>>,
  status = 200,
): Promise<boolean> {
  let found = false;
  const stale = new StaleAnswers({
    store: sharedStore(new SharedArrayBuffer(262_144), { worker: 0 }),
    maxAge: 60_000,
    maxBody: 1_000,
  });
  const { definePlugin, httpProtocols } = await import('../../plugin-sdk/index.ts');
  const probe = definePlugin({
    name: 'probe',
    version: '1.0.0',
    priority: 1,
    protocols: httpProtocols,
    schema: () => import('./schema.ts'),
    setup: () => ({
      access: (context) => {
        stale.note(context);
        found = stale.find(context) !== null;
        return undefined;
      },
      backendAnswer: (context) => stale.keep(context),
    }),
  });
  const plugin = testPlugin(probe);
  await plugin.request({ headers: request, backend: { status, headers: answer, body: 'text' } });
  await plugin.request({ headers: request });
  return found;
}

test('stores only answers that are the same for all clients', async () => {
  assert.equal(await isKept({}, {}), true);
  assert.equal(await isKept({ 'accept-encoding': 'gzip' }, { vary: 'Accept-Encoding' }), true);
  assert.equal(await isKept({}, { 'cache-control': 'public, max-age=1' }), true);
  assert.equal(await isKept({ authorization: 'Bearer x' }, {}), false);
  assert.equal(await isKept({ cookie: 'a=1' }, {}), false);
  assert.equal(await isKept({ range: 'bytes=0-1' }, {}), false);
  assert.equal(await isKept({}, { 'set-cookie': 'a=1' }), false);
  assert.equal(await isKept({}, { 'cache-control': 'private' }), false);
  assert.equal(await isKept({}, { 'cache-control': 'max-age=0, no-store' }), false);
  assert.equal(await isKept({}, { vary: 'X-User' }), false);
  assert.equal(await isKept({}, { vary: '*' }), false);
  assert.equal(await isKept({}, {}, 404), false);
});
