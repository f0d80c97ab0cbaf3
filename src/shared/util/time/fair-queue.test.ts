import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { clientGroup, FairQueue, overloaded } from './fair-queue.ts';

/** A queue whose tasks end when the test says so; `started` lists them in the order in which they ran. */
function controlled(options: ConstructorParameters<typeof FairQueue>[0]) {
  const queue = new FairQueue(options);
  after(() => queue.close());
  const started: string[] = [];
  const running: (() => void)[] = [];
  return {
    queue,
    started,
    add: (group: string, name = group) =>
      queue.run(group, () => {
        started.push(name);
        return new Promise<string>((resolve) => running.push(() => resolve(name)));
      }),
    async finish() {
      running.shift()?.();
      await new Promise(setImmediate);
    },
  };
}

test('starts tasks at once while there is room', async () => {
  const { queue, add, started, finish } = controlled({ concurrency: 2, maxWaiting: 4 });
  const results = [add('a', 'a1'), add('a', 'a2'), add('a', 'a3')];
  assert.deepEqual(started, ['a1', 'a2']);
  assert.deepEqual([queue.running, queue.waiting], [2, 1]);
  for (let at = 0; at < 3; at++) await finish();
  assert.deepEqual(await Promise.all(results), ['a1', 'a2', 'a3']);
  assert.deepEqual([queue.running, queue.waiting], [0, 0]);
});

test('schedules groups round-robin: a flood of one group delays another by one task', async () => {
  const { add, started, finish } = controlled({ concurrency: 1, maxWaiting: 100 });
  for (let at = 0; at < 10; at++) void add('flood', `f${at}`);
  void add('b', 'b0');
  void add('b', 'b1');
  void add('c', 'c0');
  for (let at = 0; at < 7; at++) await finish();
  assert.deepEqual(started.slice(0, 7), ['f0', 'f1', 'b0', 'c0', 'f2', 'b1', 'f3']);
});

test('limits how many tasks of one group run at the same time', async () => {
  const { add, started, finish } = controlled({ concurrency: 4, concurrencyPerGroup: 2, maxWaiting: 10 });
  for (let at = 0; at < 4; at++) void add('a', `a${at}`);
  void add('b', 'b0');
  assert.deepEqual(started, ['a0', 'a1', 'b0']);
  await finish();
  assert.deepEqual(started, ['a0', 'a1', 'b0', 'a2']);
});

test('limits how many tasks of one group wait', async () => {
  const { add, finish } = controlled({ concurrency: 1, maxWaiting: 10, maxWaitingPerGroup: 2 });
  const results = ['1', '2', '3', '4'].map((name) => add('a', name));
  assert.equal(await results[3], overloaded);
  const other = add('b');
  for (let at = 0; at < 4; at++) await finish();
  assert.deepEqual(await Promise.all(results), ['1', '2', '3', overloaded]);
  assert.equal(await other, 'b');
});

test('a full queue drops the newest task of its largest group in favour of a smaller group', async () => {
  const { queue, add, finish } = controlled({ concurrency: 1, maxWaiting: 4, maxWaitingPerGroup: 4 });
  const flood = ['1', '2', '3', '4', '5'].map((name) => add('a', name));
  const others = ['b', 'c', 'd'].map((name) => add(name));
  assert.equal(queue.waiting, 4);
  assert.equal(await flood[4], overloaded);
  assert.equal(await flood[3], overloaded);
  assert.equal(await flood[2], overloaded);
  assert.equal(await add('e'), overloaded, 'all groups wait with one task each');
  assert.equal(await add('b'), overloaded);
  for (let at = 0; at < 5; at++) await finish();
  assert.deepEqual(await Promise.all(others), ['b', 'c', 'd']);
});

test('a task that waits too long is rejected and never starts', async () => {
  const { queue, add, started, finish } = controlled({ concurrency: 1, maxWaiting: 4, maxWait: 5 });
  const first = add('a', 'first');
  assert.equal(await add('b', 'late'), overloaded);
  assert.equal(queue.waiting, 0);
  await finish();
  assert.equal(await first, 'first');
  assert.deepEqual(started, ['first']);
});

test('a task that fails frees its slot and rejects for its caller only', async () => {
  const queue = new FairQueue({ concurrency: 1, maxWaiting: 4 });
  const failing = queue.run('a', () => Promise.reject(new Error('no')));
  const next = queue.run('a', () => Promise.resolve('next'));
  await assert.rejects(failing, { message: 'no' });
  assert.equal(await next, 'next');
  assert.equal(queue.running, 0);
});

test('a closed queue rejects waiting and later tasks', async () => {
  const { queue, add, finish } = controlled({ concurrency: 1, maxWaiting: 4 });
  const running = add('a', 'running');
  const waiting = [add('a'), add('b')];
  queue.close();
  assert.deepEqual(await Promise.all(waiting), [overloaded, overloaded]);
  assert.equal(await add('c'), overloaded);
  await finish();
  assert.equal(await running, 'running');
});

test('the networks of one IPv6 site, however many, share the slot of one client', async () => {
  const { queue, add, started, finish } = controlled({ concurrency: 1, maxWaiting: 8 });
  const networks = Array.from({ length: 9 }, (_, at) => clientGroup(`2001:db8:5:${(at + 1).toString(16)}::1`));
  const flood = networks.map((network) => add(network));
  const victims = [add('192.0.2.1'), add(clientGroup('2001:db8:6:1::1'))];
  assert.equal(queue.waiting, 8);
  assert.deepEqual(await Promise.all(flood.slice(1, 3)), [overloaded, overloaded], 'the flood loses its slots');
  for (let at = 0; at < 9; at++) await finish();
  assert.deepEqual(await Promise.all(victims), ['192.0.2.1', clientGroup('2001:db8:6:1::1')]);
  assert.ok(started.indexOf('192.0.2.1') <= 2 && started.indexOf(clientGroup('2001:db8:6:1::1')) <= 3);
  assert.deepEqual([queue.running, queue.waiting], [0, 0]);
});

test('addresses of one IPv6 network are one client', () => {
  assert.equal(clientGroup('2001:db8:0:1::1'), clientGroup('2001:db8:0:1:ffff::2'));
  assert.notEqual(clientGroup('2001:db8:0:1::1'), clientGroup('2001:db8:0:2::1'));
  assert.equal(clientGroup('::ffff:192.0.2.1'), clientGroup('192.0.2.1'));
  assert.notEqual(clientGroup('192.0.2.1'), clientGroup('192.0.2.2'));
});
