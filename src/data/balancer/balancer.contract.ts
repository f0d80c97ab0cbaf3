import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bench, request, seeded, tally } from './balancer.fixture.ts';

/** What holds for every algorithm. */
export function describeBalancer(algorithm: string): void {
  describe(`${algorithm}, as every balancer`, () => {
    const at = (weights: readonly number[], options = {}) => bench(algorithm, weights, options);
    const keys = Array.from({ length: 400 }, (_, number) => request(`user-${number}`));

    test('returns no address when there are no targets', () => {
      assert.equal(at([]).balancer.pick(request()), null);
    });

    test('returns the only address, failed or not', () => {
      const { balancer, targets } = at([7]);
      for (const key of keys) assert.equal(balancer.pick(key), targets[0]);
      assert.equal(balancer.pick(request('', { failedTargets: targets })), targets[0]);
    });

    test('skips an address from the moment that it is unhealthy', () => {
      const { balancer, setHealthy, targets } = at([100, 100, 100]);
      setHealthy(1, false);
      for (const key of keys) assert.notEqual(balancer.pick(key), targets[1]);
      setHealthy(2, false);
      for (const key of keys) assert.equal(balancer.pick(key), targets[0]);
      setHealthy(1, true);
      setHealthy(0, false);
      for (const key of keys) assert.equal(balancer.pick(key), targets[1]);
    });

    test('returns no address when all are unhealthy, until one recovers', () => {
      const { balancer, setHealthy, targets } = at([1, 2, 3]);
      for (const index of [0, 1, 2]) setHealthy(index, false);
      for (const key of keys) assert.equal(balancer.pick(key), null);
      setHealthy(1, true);
      for (const key of keys) assert.equal(balancer.pick(key), targets[1]);
    });

    test('can be created when some are unhealthy already', () => {
      const { another, setHealthy, targets } = at([1, 1]);
      setHealthy(0, false);
      const late = another().balancer;
      for (const key of keys) assert.equal(late.pick(key), targets[1]);
    });

    test('needs more than the threshold of its weight', () => {
      const { balancer, setHealthy } = at([100, 100, 50, 150], { threshold: 50 });
      setHealthy(0, false);
      assert.notEqual(balancer.pick(request()), null);
      setHealthy(1, false);
      assert.equal(balancer.pick(request()), null, 'half of it is not more than 50%');
      setHealthy(0, true);
      assert.notEqual(balancer.pick(request()), null);
    });

    test('avoids an address that failed in the request while there is another', () => {
      const { balancer, targets } = at([100, 100, 100]);
      for (const key of keys) {
        const first = balancer.pick(key)!;
        const second = balancer.pick({ ...key, failedTargets: [first] })!;
        const third = balancer.pick({ ...key, failedTargets: [first, second] })!;
        assert.equal(new Set([first, second, third]).size, 3);
        assert.ok(targets.includes(balancer.pick({ ...key, failedTargets: targets })!));
      }
    });

    test('recognises a failed address after a change of config', () => {
      const { balancer, targets } = at([100, 100]);
      const failedTargets = [{ ...targets[0]! }];
      for (const key of keys) assert.equal(balancer.pick({ ...key, failedTargets }), targets[1]);
    });

    test('never returns an address that the request rejects, not even when the rest has failed', () => {
      const { balancer, targets } = at([100, 1, 1]);
      const admits = (target: unknown): boolean => target !== targets[0];
      for (const key of keys) {
        assert.notEqual(balancer.pick({ ...key, admits }), targets[0]);
        assert.notEqual(balancer.pick({ ...key, admits, failedTargets: targets }), targets[0]);
        assert.equal(balancer.pick({ ...key, admits: () => false }), null);
      }
    });

    test('accepts weights from 1 to 65535', () => {
      const { balancer, targets } = at([65_535, 1, 65_535]);
      for (const key of keys) assert.ok(targets.includes(balancer.pick(key)!));
    });

    test('serves 1,000 targets, and the last healthy one of them', () => {
      const { balancer, setHealthy, targets, zone } = at(Array.from({ length: 1000 }, () => 100));
      const counts = tally(20_000, (round) => {
        const target = balancer.pick(request(`user-${round}`))!;
        zone.begin(target.slot);
        return target;
      });
      assert.equal(Object.keys(counts).length, 1000);
      const heaviest = Math.max(...Object.values(counts));
      assert.ok(heaviest <= 60, `20 is the mean, the most was ${heaviest}`);
      for (const index of targets.keys()) if (index !== 777) setHealthy(index, false);
      for (const key of keys) assert.equal(balancer.pick(key), targets[777]);
    });

    test('works without a slot in the zone', () => {
      const plain = at([1, 1]);
      const targets = plain.targets.map((target) => ({ ...target, slot: 0 }));
      const { balancer } = at([], { slot: 0, targets });
      assert.equal(Object.keys(tally(400, (round) => balancer.pick(keys[round]!))).length, 2);
    });

    test('never returns an unhealthy address, and always one of the others', (t) => {
      const random = seeded((text) => t.diagnostic(text));
      const { balancer, another, setHealthy, targets } = at([1, 5, 100, 100, 3000, 65_535], { slowStart: 5000 });
      const workers = [balancer, another().balancer, another().balancer];
      const healthy = targets.map(() => true);
      for (let round = 0; round < 5000; round++) {
        const index = random(targets.length);
        healthy[index] = random(3) > 0;
        setHealthy(index, healthy[index]);
        const picked = workers[random(workers.length)]!.pick(request(`user-${random(100)}`));
        if (picked === null) assert.ok(!healthy.includes(true));
        else assert.equal(healthy[targets.indexOf(picked)], true);
      }
    });

    test('gives an address that has recovered a growing share', () => {
      const { balancer, setHealthy, targets, clock, zone } = at([100, 100, 100, 100], { slowStart: 10_000 });
      for (const { slot } of targets) zone.setLatency(slot, 0, 1000);
      setHealthy(3, false);
      balancer.pick(request());
      setHealthy(3, true);
      const begun = clock.now;
      const shares = [0, 2500, 5000, 7500, 10_000].map((elapsed) => {
        clock.now = begun + elapsed;
        // Some requests stay in flight, so that the algorithm has something to compare.
        const held: number[] = [];
        const counts = tally(2000, (round) => {
          const target = balancer.pick(request(`user-${round}`))!;
          zone.begin(target.slot);
          held.push(target.slot);
          if (held.length > 400) zone.end(held.shift()!);
          return target;
        });
        for (const slot of held) zone.end(slot);
        return (counts['t3'] ?? 0) / 2000;
      });
      const [first, quarter, half, most, full] = shares as [number, number, number, number, number];
      const reported = shares.join(', ');
      assert.ok(first < 0.06, reported);
      assert.ok(first < quarter && quarter < half && half < most && most <= full * 1.1, reported);
      assert.ok(full > 0.2 && full < 0.3, reported);
      // 10 of 20 parts next to three times 20.
      assert.ok(Math.abs(half - 1 / 7) < 0.05, reported);
    });
  });
}
