import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bench, request, seeded, tally } from './balancer.fixture.ts';

test('the shares are exact over any round, whichever worker is asked', (t) => {
  const random = seeded((text) => t.diagnostic(text));
  for (const weights of [[100, 200, 700], [1, 1, 1, 1, 1, 1, 1], [7, 11, 13], [9000, 8999, 1], [5]]) {
    const { balancer, another } = bench('round-robin', weights);
    const workers = [balancer, another().balancer, another().balancer, another().balancer];
    const size = weights.reduce((sum, weight) => sum + weight, 0);
    for (let turn = 0; turn < random(50); turn++) balancer.pick(request());
    const counts = tally(size, () => workers[random(workers.length)]!.pick(request()));
    assert.deepEqual(counts, Object.fromEntries(weights.map((weight, index) => [`t${index}`, weight])));
  }
});

test('an unhealthy target leaves the others in their proportions', () => {
  const { balancer, another, setHealthy } = bench('round-robin', [100, 100, 100, 200]);
  const workers = [balancer, another().balancer];
  setHealthy(1, false);
  const counts = tally(400, (turn) => workers[turn % 2]!.pick(request()));
  assert.deepEqual(counts, { t0: 100, t2: 100, t3: 200 });
});

test('so does one that requests exclude', () => {
  const { balancer, targets } = bench('round-robin', [1, 1, 1, 1]);
  const query = request('', { admits: (target) => target !== targets[1] });
  assert.deepEqual(
    tally(300, () => balancer.pick(query)),
    { t0: 100, t2: 100, t3: 100 },
  );
});

test('a retried request does not advance another target twice', () => {
  const { balancer, targets } = bench('round-robin', [1, 1, 1]);
  const order: string[] = [];
  for (let turn = 0; turn < 6; turn++) {
    const first = balancer.pick(request())!;
    order.push(balancer.pick(request('', { failedTargets: [first] }))!.id);
  }
  assert.equal(new Set(order).size, targets.length);
});

test('the clock is read only during slow start', () => {
  const { balancer, zone, clock, setHealthy } = bench('round-robin', [1, 1], { slowStart: 1000 });
  let asked = 0;
  zone.now = () => {
    asked++;
    return clock.now;
  };
  for (let turn = 0; turn < 10; turn++) balancer.pick(request());
  assert.equal(asked, 0);
  setHealthy(1, false);
  setHealthy(1, true);
  for (let turn = 0; turn < 10; turn++) balancer.pick(request());
  assert.ok(asked > 5);
  clock.now += 1000;
  balancer.pick(request());
  asked = 0;
  assert.deepEqual(
    tally(10, () => balancer.pick(request())),
    { t0: 5, t1: 5 },
  );
  assert.equal(asked, 0);
});

test('slow start applies to an address that is new to the upstream', () => {
  const { another, add, clock } = bench('round-robin', [100, 100], { slowStart: 10_000 });
  add(1);
  const { balancer } = another();
  assert.deepEqual(
    tally(21, () => balancer.pick(request())),
    { t0: 20, t1: 1 },
  );
  clock.now += 5000;
  assert.deepEqual(
    tally(30, () => balancer.pick(request())),
    { t0: 20, t1: 10 },
  );
  clock.now += 5000;
  assert.deepEqual(
    tally(30, () => balancer.pick(request())),
    { t0: 15, t1: 15 },
  );
});
