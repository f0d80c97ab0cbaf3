import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { setEngineFlags } from './engine-flags.ts';

test('threads that collect garbage and compile expressions at the same time never miss a flag', {
  timeout: 60_000,
}, async () => {
  setEngineFlags();
  const hidden = await Promise.all(
    Array.from({ length: 4 }, () => {
      const worker = new Worker(new URL('./engine-flags.fixture.ts', import.meta.url));
      return new Promise<unknown>((resolve, reject) => worker.once('message', resolve).once('error', reject));
    }),
  );
  assert.deepEqual(hidden, [true, true, true, true]);
});

test('V8 flags of a gateway are set in one module', () => {
  const src = join(import.meta.dirname, '../../..');
  const users = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/\.(?:test|fixture)\.ts$/.test(name))
    .filter((name) => readFileSync(join(src, name), 'utf8').includes('setFlagsFromString'));
  // The leak check runs in processes of tests, and sets them back.
  const leakCheck = join('plugin-testing', 'leaks', 'plain-code.ts');
  assert.deepEqual(users.toSorted(), [leakCheck, join('shared', 'util', 'process', 'engine-flags.ts')]);
});
