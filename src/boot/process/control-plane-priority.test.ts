import assert from 'node:assert/strict';
import { once } from 'node:events';
import { getPriority } from 'node:os';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { ControlPlanePriority } from './control-plane-priority.ts';

const reportPriority = `process.getBuiltinModule('node:worker_threads').parentPort.postMessage(process.getBuiltinModule('node:os').getPriority())`;

test('threads start with the priority of the process, also after that of the control plane was lowered', async () => {
  const normal = getPriority();
  const priority = new ControlPlanePriority();
  const start = (): Worker => priority.startThread(() => new Worker(reportPriority, { eval: true }));
  assert.deepEqual(await once(start(), 'message'), [normal]);
  await priority.lower();
  const lowered = getPriority();
  assert.ok(lowered >= normal);
  assert.deepEqual(await once(start(), 'message'), [normal]);
  assert.equal(getPriority(), lowered);
});

test('a thread that cannot be started leaves the control plane where it was', async () => {
  const priority = new ControlPlanePriority();
  await priority.lower();
  const lowered = getPriority();
  assert.throws(() =>
    priority.startThread(() => {
      throw new Error('no room for a thread');
    }),
  );
  assert.equal(getPriority(), lowered);
});
