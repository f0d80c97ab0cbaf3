import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runSuite } from './http-cache-suite/run-suite.ts';

it('the cache fails no required test of the public suite for HTTP caches', async () => {
  const results = await runSuite();
  const failed = results.filter(({ outcome }) => outcome === 'fail');
  assert.deepEqual(
    failed.map(({ id, detail }) => `${id}: ${detail}`),
    [],
  );
  // The tests did run, and most optional behaviour is implemented.
  const count = (wanted: string): number => results.filter(({ outcome }) => outcome === wanted).length;
  assert.ok(count('pass') >= 140, `${count('pass')} passed`);
  assert.ok(count('optimal') >= 60, `${count('optimal')} optimal`);
});
