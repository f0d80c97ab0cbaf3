import assert from 'node:assert/strict';
import { once } from 'node:events';
import { getPriority, setPriority } from 'node:os';
import { beforeEach, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { until } from '../../../test/support/until.ts';
import { hurryControlPlane } from '../../data/worker/hurry-control-plane.ts';
import { createVitals } from '../../shared/zones/worker-vitals.ts';
import { ControlPlanePriority } from './control-plane-priority.ts';

const reportPriority = `process.getBuiltinModule('node:worker_threads').parentPort.postMessage(process.getBuiltinModule('node:os').getPriority())`;

const original = getPriority();
// It was lowered only if it can be raised again.
beforeEach(() => {
  if (getPriority() !== original) setPriority(original);
});

test('threads start with the priority of the process, also after that of the control plane was lowered', async () => {
  const normal = getPriority();
  const priority = new ControlPlanePriority(createVitals(1));
  const start = (): Worker => priority.startThread(() => new Worker(reportPriority, { eval: true }));
  assert.deepEqual(await once(start(), 'message'), [normal]);
  await priority.lower();
  const lowered = getPriority();
  assert.ok(lowered >= normal);
  assert.deepEqual(await once(start(), 'message'), [normal]);
  assert.equal(getPriority(), lowered);
});

test('a thread that cannot be started leaves the control plane where it was', async () => {
  const priority = new ControlPlanePriority(createVitals(1));
  await priority.lower();
  const lowered = getPriority();
  assert.throws(() =>
    priority.startThread(() => {
      throw new Error('no room for a thread');
    }),
  );
  assert.equal(getPriority(), lowered);
});

test('a call of a worker gives it the normal priority, until no worker has called for a while', async () => {
  const normal = getPriority();
  const vitals = createVitals(1);
  await new ControlPlanePriority(vitals).lower();
  const lowered = getPriority();
  const hurry = hurryControlPlane(vitals);
  for (let round = 0; round < 2; round++) {
    hurry();
    assert.equal(getPriority(), normal);
    await until(() => getPriority() === lowered);
  }
});
