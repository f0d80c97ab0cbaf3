import assert from 'node:assert/strict';
import { it } from 'node:test';
import { measuredRoot, nextTurn, runInTwoLanes } from './lanes.ts';

it('runInTwoLanes() alternates the turns, and the order with each round', async () => {
  const steps: string[] = [];
  const results = await runInTwoLanes(['/old', '/new'], async (lane) => {
    for (let round = 0; round < 3; round++) {
      for (const subject of ['peer', 'gateway']) {
        await nextTurn(round);
        steps.push(`${round} ${subject} ${measuredRoot()}`);
        await Promise.resolve();
      }
    }
    return lane;
  });
  assert.deepEqual(
    results.map((result) => result.status === 'fulfilled' && result.value),
    [0, 1],
  );
  assert.deepEqual(steps, [
    ...['0 peer /old', '0 peer /new', '0 gateway /old', '0 gateway /new'],
    ...['1 peer /new', '1 peer /old', '1 gateway /new', '1 gateway /old'],
    ...['2 peer /old', '2 peer /new', '2 gateway /old', '2 gateway /new'],
  ]);
});

it('runInTwoLanes() never runs both at once, and finishes one whose other has failed', async () => {
  let running = 0;
  const [before, after] = await runInTwoLanes(['/old', '/new'], async (lane) => {
    for (let round = 0; round < 4; round++) {
      await nextTurn(round);
      assert.equal(++running, 1);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      if (lane === 1 && round === 1) throw new Error('no port');
    }
    return 'done';
  });
  assert.deepEqual(before, { status: 'fulfilled', value: 'done' });
  assert.equal(after.status, 'rejected');
});

it('without lanes a turn begins at once, in this project', async () => {
  await nextTurn(0);
  assert.ok(measuredRoot().length > 0 && import.meta.dirname.startsWith(measuredRoot()));
});
