import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LeakyBucket } from '../limits/leaky-bucket.ts';
import { LocalWindows } from '../limits/local-windows.ts';
import { ZoneCircuits } from '../limits/zone-circuits.ts';
import { ZoneTable } from './zone-table.ts';
import { type ZoneChange, ZoneTransfer } from './zone-transfer.ts';

const bytes = 64 * 1024;
const now = 1_700_000_000_000;

function side() {
  const memory = new SharedArrayBuffer(bytes);
  return { memory, transfer: new ZoneTransfer(memory) };
}

/** A second process that begins with the content of the first. */
function successorOf(first: ReturnType<typeof side>): ReturnType<typeof side> {
  const second = side();
  const change = first.transfer.changes();
  if (change !== null) assert.ok(second.transfer.restore(change));
  return second;
}

/** Both sides send what is new. */
function exchange(first: ReturnType<typeof side>, second: ReturnType<typeof side>): void {
  const [one, two] = [first.transfer.changes(), second.transfer.changes()];
  if (one !== null) assert.ok(second.transfer.merge(one));
  if (two !== null) assert.ok(first.transfer.merge(two));
}

function windows({ memory }: { readonly memory: SharedArrayBuffer }, clock = (): number => now): LocalWindows {
  const limits = [{ period: 'minute', limit: 10 } as const];
  return new LocalWindows(new ZoneTable(memory, 0), { namespace: 'n', limits, now: clock } as never);
}

const remaining = (limiter: LocalWindows, key: string): number => limiter.peek(key).windows[0]?.remaining ?? -1;

describe('a table that is handed over', () => {
  test('keeps the counts of windows', () => {
    const first = side();
    const old = windows(first);
    for (let at = 0; at < 7; at++) old.take('a');
    const limiter = windows(successorOf(first));
    assert.equal(remaining(limiter, 'a'), 3);
    assert.equal(remaining(limiter, 'b'), 10);
  });

  test('adds what both sides count, once', () => {
    const first = side();
    const old = windows(first);
    old.take('a');
    const second = successorOf(first);
    const limiter = windows(second);
    for (let round = 0; round < 3; round++) {
      old.take('a');
      limiter.take('a');
      limiter.take(`new in round ${round}`);
      exchange(first, second);
      exchange(first, second);
    }
    assert.equal(remaining(limiter, 'a'), 3);
    assert.equal(remaining(old, 'a'), 3);
    assert.equal(remaining(old, 'new in round 1'), 9);
  });

  test('passes at most the limit when the sides are used in turn', () => {
    const first = side();
    const old = windows(first);
    old.peek('a');
    const second = successorOf(first);
    const limiter = windows(second);
    let allowed = 0;
    for (let at = 0; at < 40; at++) {
      if ((at % 2 === 0 ? old : limiter).take('a').allowed) allowed++;
      exchange(first, second);
    }
    assert.equal(allowed, 10);
  });

  test('continues in a new window', () => {
    let time = now;
    const first = side();
    const old = windows(first, () => time);
    for (let at = 0; at < 9; at++) old.take('a');
    const second = successorOf(first);
    const limiter = windows(second, () => time);
    time += 60_000;
    old.take('a');
    exchange(first, second);
    assert.equal(remaining(limiter, 'a'), 9);
    limiter.take('a');
    exchange(first, second);
    assert.equal(remaining(old, 'a'), 8);
  });

  test('keeps the level of a bucket, and adds to it', () => {
    const first = side();
    const bucket = (memory: SharedArrayBuffer) =>
      new LeakyBucket(new ZoneTable(memory, 0), { namespace: 'n', rate: 1, burst: 5, now: () => now } as never);
    const old = bucket(first.memory);
    for (let at = 0; at < 3; at++) old.take('a');
    const second = successorOf(first);
    const limiter = bucket(second.memory);
    assert.equal(limiter.excess('a'), 2);
    old.take('a');
    limiter.take('a');
    exchange(first, second);
    exchange(first, second);
    assert.equal(limiter.excess('a'), 4);
    assert.equal(old.excess('a'), 4);
  });

  test('keeps an open circuit, and one that opens later', () => {
    const first = side();
    const options = {
      namespace: 'n',
      consecutive: 2,
      window: 10_000,
      minCalls: 100,
      errorRatio: 0,
      slowRatio: 0,
      pause: 30_000,
      pauseMax: 30_000,
      trials: 1,
      ramp: 0,
      now: () => now,
    };
    const circuits = (memory: SharedArrayBuffer) => new ZoneCircuits(new ZoneTable(memory, 0), options as never);
    const fail = (of: ZoneCircuits, key: string): void => {
      for (let at = 0; at < 2; at++) of.report(key, 'failure', false);
    };
    const old = circuits(first.memory);
    fail(old, 'a');
    assert.equal(old.admit('a').admitted, false);
    const second = successorOf(first);
    const next = circuits(second.memory);
    assert.equal(next.admit('a').admitted, false);
    assert.equal(next.admit('b').admitted, true);
    fail(old, 'b');
    exchange(first, second);
    assert.equal(next.admit('b').admitted, false);
  });
});

describe('a change from another process', () => {
  const first = side();
  windows(first).take('a');
  const change = first.transfer.changes();
  assert.ok(change !== null);
  const broken: Readonly<Record<string, ZoneChange>> = {
    'with a bucket that the table does not have': { ...change, slots: change.slots.with(0, 1e6) },
    'with a hash that is no word': { ...change, slots: change.slots.with(1, 0.5) },
    'with a tag of requests in flight': { ...change, slots: change.slots.with(3, 256) },
    'with something that is no number': { ...change, slots: change.slots.with(7, Number.NaN) },
    'that is cut off': { ...change, slots: change.slots.slice(1) },
    'of mixed content': { ...change, content: 255 },
  };
  for (const [name, one] of Object.entries(broken)) {
    test(`is refused ${name}`, () => {
      const second = side();
      assert.equal(second.transfer.restore(one), false);
      assert.equal(remaining(windows(second), 'a'), 10);
    });
  }

  test('is not merged into a table of another kind or with other hashes', () => {
    const second = side();
    windows(second).take('a');
    assert.equal(second.transfer.merge(change), false, 'another seed');
    assert.equal(second.transfer.merge({ ...change, content: 2 }), false, 'another kind');
  });

  test('does not fit a smaller table', () => {
    const small = new SharedArrayBuffer(4096);
    const transfer = new ZoneTransfer(small);
    assert.equal(transfer.restore({ ...change, slots: change.slots.with(0, 40) }), false);
  });
});
