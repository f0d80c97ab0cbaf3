import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OffThreadError, offThread } from './off-thread.ts';

const module = new URL('./off-thread.fixture.ts', import.meta.url);

test('a function runs in another thread; its exception is thrown here', async () => {
  const add = offThread<[number, number], number>(module, 'add');
  assert.deepEqual(await Promise.all([add(1, 2), add(3, 4)]), [3, 7]);
  const fail = offThread<[string], never>(module, 'fail');
  await assert.rejects(fail('line 3'), { name: 'FixtureError', message: 'failed', where: 'line 3' });
  await assert.rejects(offThread(module, 'nothing')(), /nothing is no function/);
});

test('a call that takes too long is given up, and those behind it are carried out', async () => {
  const spin = offThread<[], void>(module, 'spin', { deadline: 200 });
  const add = offThread<[number, number], number>(module, 'add');
  const [spun, added] = await Promise.allSettled([spin(), add(1, 1)]);
  assert.ok(spun.status === 'rejected' && spun.reason instanceof OffThreadError);
  assert.deepEqual(added, { status: 'fulfilled', value: 2 });
});

test('clients are served in turn', async () => {
  const add = offThread<[number, number], number>(module, 'add');
  const order: string[] = [];
  const call = (client: string): Promise<unknown> => add.forClient(client, 1, 1).then(() => order.push(client));
  await Promise.all([...Array.from({ length: 20 }, () => call('192.0.2.1')), call('192.0.2.2'), call('192.0.2.3')]);
  assert.deepEqual(order.slice(0, 4), ['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.3']);
});

test('no more calls wait than can be carried out in time', async () => {
  const add = offThread<[number, number], number>(module, 'add');
  const all = await Promise.allSettled(Array.from({ length: 100 }, (_, at) => add(at, 1)));
  const refused = all.filter((one) => one.status === 'rejected');
  assert.ok(refused.length > 0 && refused.length < 100);
  assert.ok(refused.every(({ reason }) => reason instanceof OffThreadError));
});
