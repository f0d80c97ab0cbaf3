import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { createVitals, NodeVitals, Vital, workerVitals } from '../../shared/zones/worker-vitals.ts';
import { Watchdog } from './watchdog.ts';

beforeEach(() => mock.timers.enable({ apis: ['setInterval'] }));
afterEach(() => mock.timers.reset());

test('a worker that was blocked counts as responsive from its next heartbeat, not from the next check', () => {
  const memory = createVitals(1);
  const worker = { number: 0, ready: true };
  let now = 1000;
  let suspected = 0;
  const watchdog = new Watchdog({
    vitals: new NodeVitals(memory),
    clock: () => now,
    timeout: 5000,
    workers: () => [worker],
    suspected: () => suspected++,
    heapCeiling: Number.POSITIVE_INFINITY,
    readHeap: async () => 0,
    heapFull: () => assert.fail('the heap is not full'),
    stuck: () => assert.fail('it is not stuck for long enough'),
  });
  const row = workerVitals(memory, 0);
  row[Vital.beat] = now;
  assert.ok(watchdog.isResponsive(worker));
  for (; now < 4000; now += 250) mock.timers.tick(250);
  assert.ok(!watchdog.isResponsive(worker));
  assert.equal(suspected, 1);
  row[Vital.beat] = now;
  assert.ok(watchdog.isResponsive(worker), 'a write must wait for it');
  mock.timers.tick(250);
  assert.ok(watchdog.isResponsive(worker));
  watchdog.stop();
});
