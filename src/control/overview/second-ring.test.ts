import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { bucketOf, sketchCount } from '../../shared/usage/latency-sketch.ts';
import { createRequestMeter, RequestMeter } from '../../shared/usage/request-meter.ts';
import { Counter, createCounters, workerCounters } from '../../shared/zones/counters.ts';
import { keptSeconds, type Second, SecondRing, sumTraffic } from './second-ring.ts';

function rig() {
  const meter = createRequestMeter(2);
  const counters = createCounters(2);
  const clock = { now: 0 };
  const ring = new SecondRing({ meter, counters, inFlight: () => 4, monotonic: () => clock.now });
  const workers = [0, 1].map((worker) => new RequestMeter(meter, worker));
  return { meter, counters, ring, workers, clock };
}

/** Seconds pass by the timers and by the clock. */
function pass(clock: { now: number }, seconds: number): void {
  for (let at = 0; at < seconds; at++) {
    clock.now += 1_000;
    mock.timers.tick(1_000);
  }
}

test('each second has what happened in it, and the sum of all has everything once', (t) => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_700_000_000_000 });
  t.after(() => mock.timers.reset());
  const { ring, workers, counters, clock } = rig();
  workers[0]!.add(200, bucketOf(5), 10, 20);
  const seen: Second[] = [];
  ring.onSecond((second) => seen.push(second));
  ring.start();
  let sent = 0;
  for (let second = 0; second < 20; second++) {
    for (let at = 0; at <= second; at++) workers[at % 2]!.add(at === 3 ? 500 : 200, bucketOf(at), 1, 2);
    sent += second + 1;
    workerCounters(counters, 0)[Counter.retries]! += 2;
    pass(clock, 1);
  }
  assert.equal(seen.length, 20);
  assert.deepEqual(
    seen.map(({ latencies }) => sketchCount(latencies)),
    Array.from({ length: 20 }, (_, at) => at + 1),
  );
  assert.deepEqual(seen[4]?.statuses, [0, 4, 0, 0, 1]);
  assert.deepEqual([seen[4]?.bytesIn, seen[4]?.bytesOut, seen[4]?.counts.retries, seen[4]?.inFlight], [5, 10, 2, 4]);
  assert.equal(seen[1]!.at - seen[0]!.at, 1_000);
  const all = sumTraffic(ring.last(keptSeconds));
  assert.deepEqual([sketchCount(all.latencies), all.duration, all.counts.retries], [sent, 20_000, 40]);
  assert.deepEqual(ring.last(2), seen.slice(-2));
  assert.deepEqual(ring.last(0), []);
  ring.close();
  pass(clock, 5);
  assert.equal(seen.length, 20);
});

test('only the last five minutes are kept, and a late timer makes a longer second', (t) => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_700_000_000_000 });
  t.after(() => mock.timers.reset());
  const { ring, clock } = rig();
  ring.start();
  pass(clock, keptSeconds + 50);
  assert.equal(ring.last(10_000).length, keptSeconds);
  clock.now += 2_500;
  pass(clock, 1);
  assert.equal(ring.last(1)[0]?.duration, 3_500);
  ring.close();
});

test('counts that wrap around at 2^32 are still differences', (t) => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_700_000_000_000 });
  t.after(() => mock.timers.reset());
  const { ring, workers, meter, clock } = rig();
  new Uint32Array(meter).fill(0xffff_fffe, 4, 200);
  ring.start();
  for (let at = 0; at < 5; at++) workers[0]!.add(200, bucketOf(5), 0, 0);
  pass(clock, 1);
  assert.equal(sketchCount(ring.last(1)[0]!.latencies), 5);
  assert.equal(ring.last(1)[0]!.statuses[1], 5);
  ring.close();
});
