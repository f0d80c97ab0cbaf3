import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monotonic } from './clock.ts';
import { Deadline } from './deadlines.ts';

function expiry(): { readonly deadline: Deadline; readonly expired: Promise<number> } {
  let resolve: (at: number) => void = () => {};
  const expired = new Promise<number>((done) => {
    resolve = done;
  });
  // The lists' timers do not keep the process alive; the test does.
  const alive = setInterval(() => {}, 1000);
  const deadline = new Deadline(() => {
    clearInterval(alive);
    resolve(monotonic());
  });
  return { deadline, expired };
}

test('expires after its time, not before', async () => {
  const { deadline, expired } = expiry();
  const started = monotonic();
  deadline.set(30, started);
  assert.ok(deadline.pending);
  assert.ok((await expired) - started >= 30);
  assert.ok(!deadline.pending);
});

test('setting it again changes it', async () => {
  const { deadline, expired } = expiry();
  const other = expiry();
  const started = monotonic();
  deadline.set(20, started);
  other.deadline.set(20, started);
  await other.expired.then(() => {});
  const again = expiry();
  again.deadline.set(20, monotonic());
  again.deadline.set(60, monotonic());
  const moved = monotonic();
  await expired;
  assert.ok((await again.expired) - moved >= 59);
});

test('a cleared one never expires, and 0 means never', async () => {
  let calls = 0;
  const cleared = new Deadline(() => calls++);
  cleared.set(10, monotonic());
  cleared.clear();
  const never = new Deadline(() => calls++);
  never.set(0, monotonic());
  assert.ok(!never.pending);
  const later = expiry();
  later.deadline.set(40, monotonic());
  await later.expired;
  assert.equal(calls, 0);
});

test('expires in the order of setting', async () => {
  const order: number[] = [];
  const now = monotonic();
  for (let at = 0; at < 5; at++) new Deadline(() => order.push(at)).set(15, now + at / 10);
  const last = expiry();
  last.deadline.set(40, now);
  await last.expired;
  assert.deepEqual(order, [0, 1, 2, 3, 4]);
});
