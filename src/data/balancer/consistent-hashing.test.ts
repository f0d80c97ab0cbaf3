import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bench, request, seeded, tally, targetsOf } from './balancer.fixture.ts';
import type { HashSource } from './balancer.ts';
import type { RuntimeTarget } from './runtime-target.ts';
import { xxhash32 } from './xxhash32.ts';

const texts = Array.from({ length: 5000 }, (_, number) => `user-${number}`);

/** The target of each text. */
function placed(weights: readonly number[], targets = targetsOf(weights), slots = 10_000): Map<string, string> {
  const { balancer } = bench('consistent-hashing', weights, { targets, slots });
  return new Map(texts.map((text) => [text, balancer.pick(request(text))!.id]));
}

function moved(before: Map<string, string>, after: Map<string, string>): string[] {
  return texts.filter((text) => before.get(text) !== after.get(text));
}

test('the ring has the layout that Kong documents', () => {
  const weights = [100, 50, 300];
  const targets = targetsOf(weights);
  const ring: (string | undefined)[] = new Array(10_000);
  for (const { id, ip, port, weight } of targets) {
    let points = Math.floor((weight / 450) * 3 * 160);
    for (let i = 1; i <= points; i++) {
      const place = xxhash32(`${ip}::${port} ${i}`) % 10_000;
      if (ring[place] === undefined) ring[place] = id;
      else points++;
    }
  }
  const found = placed(weights, targets);
  for (const text of texts) {
    let place = xxhash32(text) % 10_000;
    while (ring[place] === undefined) place = (place + 9999) % 10_000;
    assert.equal(found.get(text), ring[place], text);
  }
});

test('it depends on names, not on the order or the age of the targets', () => {
  const targets = targetsOf([100, 100, 100, 100]);
  const other = [...targets].reverse();
  assert.deepEqual(moved(placed([], targets), placed([], other)), []);
});

test('every worker has the same one, and a text keeps its target', () => {
  const { balancer, another } = bench('consistent-hashing', [100, 100, 50]);
  const second = another().balancer;
  for (const text of texts) {
    const target = balancer.pick(request(text));
    assert.equal(second.pick(request(text)), target);
    assert.equal(balancer.pick(request(text)), target);
  }
});

test('the share is proportional to the weight', () => {
  const counts: Record<string, number> = {};
  for (const id of placed([100, 300, 600]).values()) counts[id] = (counts[id] ?? 0) + 1;
  for (const [index, share] of [0.1, 0.3, 0.6].entries()) {
    const got = counts[`t${index}`]! / texts.length;
    assert.ok(Math.abs(got - share) < 0.05, `${got} for ${share}`);
  }
});

test('when a target is removed its texts move, and almost no others; when it is added again they return', (t) => {
  const random = seeded((text) => t.diagnostic(text));
  for (let round = 0; round < 20; round++) {
    const count = 2 + random(20);
    const targets = targetsOf(new Array<number>(count).fill(100));
    const gone = targets[random(count)]!;
    const before = placed([], targets);
    const left = placed(
      [],
      targets.filter((target) => target !== gone),
    );
    const others = moved(before, left).filter((text) => before.get(text) !== gone.id);
    // Points that were displaced by a point of the removed target: one in so many as the ring is full.
    assert.ok(others.length <= texts.length * 0.02 * (count / 5 + 1), `${others.length} of others, ${count} targets`);
    const fair = texts.length / count;
    const all = moved(before, left).length;
    assert.ok(all <= fair * 1.5 + 50, `${all} moved, ${fair} is fair, ${count} targets`);
  }
});

test('with weights, too, about the fair share moves', (t) => {
  const random = seeded((text) => t.diagnostic(text));
  for (let round = 0; round < 20; round++) {
    const weights = Array.from({ length: 3 + random(10) }, () => 50 + random(100));
    const targets = targetsOf(weights);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const gone = random(targets.length);
    const rest = targets.filter((_, index) => index !== gone);
    const all = moved(placed([], targets), placed([], rest)).length;
    const fair = (texts.length * weights[gone]!) / total;
    // The average weight changes, and with it the number of points of each target.
    assert.ok(all <= fair * 1.6 + texts.length * 0.12, `${all} moved, ${fair} is fair: ${weights}, without ${gone}`);
  }
});

test('when health flaps only the texts of that target move, and all come back', (t) => {
  const random = seeded((text) => t.diagnostic(text));
  const { balancer, setHealthy, targets } = bench('consistent-hashing', [100, 100, 50, 200, 100]);
  const home = new Map(texts.map((text) => [text, balancer.pick(request(text))!]));
  const down = new Set<number>();
  for (let round = 0; round < 30; round++) {
    const index = random(targets.length);
    if (down.has(index)) down.delete(index);
    else if (down.size < targets.length - 1) down.add(index);
    setHealthy(index, !down.has(index));
    for (const text of texts.slice(0, 1000)) {
      const at = home.get(text)!;
      const now = balancer.pick(request(text))!;
      if (!down.has(targets.indexOf(at))) assert.equal(now, at, text);
      else assert.ok(!down.has(targets.indexOf(now)));
    }
  }
});

test('a text whose target has recovered returns to it once and stays, during slow start', () => {
  const { balancer, setHealthy, targets, clock } = bench('consistent-hashing', [1, 1, 1], { slowStart: 10_000 });
  const at = (): Map<string, string> => new Map(texts.map((text) => [text, balancer.pick(request(text))!.id]));
  const home = at();
  setHealthy(1, false);
  at();
  setHealthy(1, true);
  const returned = new Set<string>();
  let before = 0;
  for (let step = 0; step <= 10; step++, clock.now += 1000) {
    const now = at();
    for (const text of texts) {
      if (home.get(text) !== targets[1]!.id) assert.equal(now.get(text), home.get(text));
      else if (now.get(text) === targets[1]!.id) returned.add(text);
      else assert.ok(!returned.has(text), `${text} has moved twice`);
    }
    assert.ok(returned.size > before, 'more return with each step');
    before = returned.size;
  }
  assert.deepEqual(moved(home, at()), []);
});

test('a failed address is avoided for that request only', () => {
  const { balancer } = bench('consistent-hashing', [1, 1, 1]);
  for (const text of texts.slice(0, 500)) {
    const home = balancer.pick(request(text))!;
    const second = balancer.pick(request(text, { failedTargets: [home] }))!;
    assert.notEqual(second, home);
    assert.equal(balancer.pick(request(text, { failedTargets: [home] })), second, 'the next one is always the same');
    assert.equal(balancer.pick(request(text)), home);
  }
});

test('the fallback is hashed when the first source is empty, and nothing when both are', () => {
  const first: HashSource = { kind: 'header', name: 'x-a', cookiePath: '/' };
  const second: HashSource = { kind: 'ip', name: '', cookiePath: '/' };
  const { balancer } = bench('consistent-hashing', [1, 1, 1, 1], { hashOn: first, hashFallback: second });
  const asked = (values: Readonly<Record<string, string | null>>): RuntimeTarget =>
    balancer.pick(request(null, { hashInput: ({ kind }) => values[kind] ?? null }))!;
  const plain = bench('consistent-hashing', [1, 1, 1, 1]).balancer;
  for (const text of texts.slice(0, 50)) {
    const home = plain.pick(request(text))!.id;
    assert.equal(asked({ header: text, ip: 'other' }).id, home);
    assert.equal(asked({ header: null, ip: text }).id, home);
  }
  assert.equal(asked({}).id, plain.pick(request(''))!.id);
  assert.equal(new Set(texts.slice(0, 100).map(() => asked({}).id)).size, 1);
});

test('a ring with too few slots for its targets grows: every target has its part', () => {
  const { balancer } = bench('consistent-hashing', new Array<number>(200).fill(100), { slots: 1000 });
  const counts = tally(40_000, (round) => balancer.pick(request(`key ${round}`)));
  assert.equal(Object.keys(counts).length, 200);
  assert.ok(Math.min(...Object.values(counts)) > 100);
});

test('small weights next to large ones have at least one point', () => {
  const { balancer, setHealthy, targets } = bench('consistent-hashing', [65_535, 1]);
  setHealthy(0, false);
  assert.equal(balancer.pick(request('x')), targets[1]);
});

test('IPv6 addresses and targets with several addresses are on the ring', () => {
  const targets = ['::1', 'fd00::2', '10.0.0.1'].map((ip, index) => ({
    id: index < 2 ? 'pair' : 'single',
    host: index < 2 ? 'pair.test' : ip,
    ip,
    port: 80,
    weight: 100,
    slot: 2 + index,
  }));
  const { balancer } = bench('consistent-hashing', [], { targets });
  const counts: Record<string, number> = {};
  for (const text of texts) {
    const ip = balancer.pick(request(text))!.ip!;
    counts[ip] = (counts[ip] ?? 0) + 1;
  }
  assert.ok(Math.min(...Object.values(counts)) > texts.length / 5, JSON.stringify(counts));
  assert.equal(Object.keys(counts).length, 3);
});
