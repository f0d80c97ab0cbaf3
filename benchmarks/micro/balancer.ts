/**
 * Nanoseconds per pick of each algorithm, for several numbers of targets, and microseconds to make a balancer and to take a
 * change of health over. Run: node benchmarks/micro/balancer.ts
 */

import type { BalanceQuery, Balancer } from '../../src/data/balancer/balancer.ts';
import { createBalancer } from '../../src/data/balancer/create-balancer.ts';
import { AddressZone, createAddressZone } from '../../src/shared/zones/address-zone.ts';

const ALGORITHMS = ['round-robin', 'least-connections', 'consistent-hashing', 'latency'];
const COUNTS = [1, 10, 100, 1000];
const PICKS = 200_000;
const SLOT = 1;

interface Subject {
  readonly balancer: Balancer;
  readonly zone: AddressZone;
  make(): Balancer;
}

/** `flight`: requests in flight at each target. */
function subject(algorithm: string, count: number, flight: number, uneven: boolean): Subject {
  const zone = new AddressZone(createAddressZone(1), 0);
  const targets = Array.from({ length: count }, (_, index) => ({
    id: `t${index}`,
    host: `10.0.${index >> 8}.${index & 255}`,
    ip: `10.0.${index >> 8}.${index & 255}`,
    port: 80,
    weight: uneven ? 65_535 - index * 7 : 100,
    slot: SLOT + 1 + index,
  }));
  for (const { slot } of targets) {
    zone.setLatency(slot, 0, 1000 + slot);
    for (let held = 0; held < flight; held++) zone.begin(slot);
  }
  const make = (): Balancer =>
    createBalancer(algorithm, {
      slot: SLOT,
      targets,
      zone,
      slots: 10_000,
      hashOn: { kind: 'header', name: 'x', cookiePath: '/' },
      hashFallback: null,
      threshold: 0,
      slowStart: 0,
    });
  return { balancer: make(), zone, make };
}

class Query implements BalanceQuery {
  readonly failedTargets = null;
  readonly admits = null;
  key = 0;

  hashInput(): string {
    return KEYS[this.key++ & 1023]!;
  }
}

const KEYS = Array.from({ length: 1024 }, () => crypto.randomUUID());

/** A pick, and the begin and end of its request, as a worker does them. */
function nanoseconds({ balancer, zone }: Subject, counted: boolean): number {
  const query = new Query();
  let best = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < 5; turn++) {
    const start = process.hrtime.bigint();
    for (let pick = 0; pick < PICKS; pick++) {
      const target = balancer.pick(query);
      if (target === null) throw new Error('nothing was picked');
      if (!counted) continue;
      zone.begin(target.slot);
      zone.end(target.slot);
    }
    best = Math.min(best, Number(process.hrtime.bigint() - start) / PICKS);
  }
  return best;
}

function microseconds(times: number, step: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < times; turn++) {
    const start = process.hrtime.bigint();
    step();
    best = Math.min(best, Number(process.hrtime.bigint() - start) / 1000);
  }
  return best;
}

function run(): void {
  const lines = [
    `${'ns per pick, by number of targets'.padEnd(48)}${COUNTS.map((n) => String(n).padStart(8)).join('')}`,
  ];
  const row = (name: string, cell: (count: number) => number): void => {
    lines.push(name.padEnd(48) + COUNTS.map((count) => cell(count).toFixed(0).padStart(8)).join(''));
  };
  for (const algorithm of ALGORITHMS) {
    const begins = algorithm === 'least-connections';
    row(algorithm + (begins ? ', with begin and end' : ''), (n) =>
      nanoseconds(subject(algorithm, n, 0, false), begins),
    );
  }
  row('least-connections, 3 in flight at each', (n) => nanoseconds(subject('least-connections', n, 3, false), true));
  row('round-robin, weights without common divisor', (n) => nanoseconds(subject('round-robin', n, 0, true), false));
  row('begin and end alone', () => {
    const { zone } = subject('round-robin', 1, 0, false);
    return (
      microseconds(5, () => {
        for (let turn = 0; turn < PICKS; turn++) {
          zone.begin(2);
          zone.end(2);
        }
      }) /
      (PICKS / 1000)
    );
  });
  lines.push('', `${'µs, by number of targets'.padEnd(48)}${COUNTS.map((n) => String(n).padStart(8)).join('')}`);
  for (const algorithm of ALGORITHMS) {
    row(`${algorithm}: to make, and a pick`, (n) => {
      const { make } = subject(algorithm, n, 0, false);
      const query = new Query();
      return microseconds(20, () => make().pick(query));
    });
    row(`${algorithm}: health has changed`, (n) => {
      const { balancer, zone } = subject(algorithm, n, 0, false);
      const query = new Query();
      return microseconds(20, () => {
        zone.changed(SLOT);
        balancer.pick(query);
      });
    });
  }
  process.stdout.write(`${lines.join('\n')}\n`);
}

run();
