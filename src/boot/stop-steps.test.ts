import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runStopSteps } from './stop-steps.ts';

test('a step that hangs or fails is logged, and the next one runs', async () => {
  const warnings: string[] = [];
  const done: string[] = [];
  await runStopSteps(
    [
      { name: 'first', run: () => new Promise<void>(() => {}) },
      { name: 'second', run: () => Promise.reject(new Error('broken')) },
      {
        name: 'third',
        run: () => {
          throw new Error('broken');
        },
      },
      { name: 'fourth', run: async () => void done.push('fourth') },
    ],
    { warn: (message) => void warnings.push(message) },
    10,
  );
  assert.deepEqual(done, ['fourth']);
  assert.deepEqual(warnings, [
    'first did not stop within 0.01 s; continuing without it',
    'second did not stop cleanly',
    'third did not stop cleanly',
  ]);
});
