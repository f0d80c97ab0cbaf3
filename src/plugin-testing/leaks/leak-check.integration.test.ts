import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import hello from '../../../examples/plugins/hello/index.ts';
import { leaky, removeListeners, tidy } from '../../../test/support/leaky-plugins.ts';
import rateLimiting from '../../plugins/rate-limiting/index.ts';
import { leakCheck } from '../index.ts';

after(removeListeners);

const kinds = {
  requests: 'heap per request',
  ids: 'heap per request',
  intervals: 'timers per setup',
  timeouts: 'timers per request',
  listeners: 'listeners per setup',
  tables: 'heap per setup',
} as const;

for (const [name, plugin] of Object.entries(leaky)) {
  test(`finds what a plugin leaks: ${name}`, async () => {
    const { leaks } = await leakCheck(plugin);
    const found = leaks.map(({ kind, per }) => `${kind} per ${per}`);
    assert.deepEqual(found.slice(0, 1), [kinds[name as keyof typeof kinds]], JSON.stringify(leaks));
    const [leak] = leaks;
    // Allocations are sampled, so that those of few bytes may be missed.
    if (name !== 'ids' || leak?.place != null) assert.match(leak?.place ?? '', /leaky-plugins\.ts:\d+:\d+\)$/);
    assert.match(leak?.message ?? '', /^each (request|setup and disposal) leaves /);
  });
}

test('finds nothing in a plugin that cleans up', async () => {
  assert.deepEqual((await leakCheck(tidy)).leaks, []);
});

test('finds nothing in an example, and in a bundled plugin with a table', async () => {
  assert.deepEqual((await leakCheck(hello)).leaks, []);
  assert.deepEqual((await leakCheck(rateLimiting, { config: { minute: 1_000_000, policy: 'local' } })).leaks, []);
});
