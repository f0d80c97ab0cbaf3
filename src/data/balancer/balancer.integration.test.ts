import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import '../../../test/support/file-end.ts';
import { AddressZone, type AddressZoneMemory, createAddressZone } from '../../shared/zones/address-zone.ts';
import { targetsOf } from './balancer.fixture.ts';
import type { PickingJob } from './balancer-worker.fixture.ts';

const threads = 4;

/** Lets worker threads pick at the same time; returns how often each target was picked. */
async function pickInThreads(
  memory: AddressZoneMemory,
  algorithm: string,
  weights: readonly number[],
  picks: number,
  held = Number.POSITIVE_INFINITY,
): Promise<number[]> {
  const gate = new SharedArrayBuffer(8);
  const workers = Array.from({ length: threads }, (_, worker) => {
    const workerData: PickingJob = { memory, worker, algorithm, weights, picks, held, gate, threads };
    return new Worker(new URL('balancer-worker.fixture.ts', import.meta.url), { workerData });
  });
  const answers = await Promise.all(workers.map((worker) => once(worker, 'message')));
  await Promise.all(workers.map((worker) => worker.terminate()));
  return weights.map((_, index) => answers.reduce((sum, [counts]) => sum + (counts as number[])[index]!, 0));
}

function inFlight(memory: AddressZoneMemory, weights: readonly number[]): number[] {
  const zone = new AddressZone(memory, -1);
  return targetsOf(weights).map(({ slot }) => zone.active(slot));
}

test('round-robin of four threads keeps the shares exactly', async () => {
  const weights = [100, 50, 25, 25];
  const memory = createAddressZone(threads);
  const counts = await pickInThreads(memory, 'round-robin', weights, 20_000);
  assert.deepEqual(counts, [40_000, 20_000, 10_000, 10_000]);
  assert.deepEqual(inFlight(memory, weights), counts, 'every request is counted once');
});

test('least connections of four threads never differ by more than one', async () => {
  const weights = new Array<number>(7).fill(100);
  const memory = createAddressZone(threads);
  const counts = await pickInThreads(memory, 'least-connections', weights, 10_001);
  const open = inFlight(memory, weights);
  assert.deepEqual(open, counts);
  assert.equal(
    open.reduce((sum, count) => sum + count, 0),
    threads * 10_001,
  );
  assert.ok(Math.max(...open) - Math.min(...open) <= 1, `${open}`);
});

test('least connections of four threads stay close to each other when requests end', async () => {
  const weights = [100, 100, 200];
  const memory = createAddressZone(threads);
  await pickInThreads(memory, 'least-connections', weights, 20_000, 100);
  const open = inFlight(memory, weights);
  assert.equal(
    open.reduce((sum, count) => sum + count, 0),
    threads * 100,
  );
  assert.ok(
    open.every((count, index) => Math.abs(count - weights[index]!) <= 25),
    `${open}`,
  );
});
