import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Collector } from './collector.ts';

/** What becomes of pieces, and of the budget. */
function collect(options: { readonly length?: number; readonly limit?: number; readonly budget?: number }) {
  const budget = { left: options.budget ?? 100 };
  const ends: string[] = [];
  const collector = new Collector({
    length: options.length ?? -1,
    limit: options.limit ?? 10,
    budget,
    complete: (body) => ends.push(`complete ${Buffer.from(body)}`),
    failed: (broken) => ends.push(broken ? 'broken' : 'too large'),
  });
  return { collector, ends, budget, chunk: (text: string) => collector.chunk(Buffer.from(text)) };
}

describe('a copy of an answer', () => {
  it('is whole at the end, or with the last of the bytes that were announced', () => {
    const open = collect({});
    open.chunk('ab');
    open.chunk('cd');
    assert.deepEqual(open.ends, []);
    open.collector.end();
    const announced = collect({ length: 4 });
    announced.chunk('ab');
    announced.chunk('cd');
    for (const { ends, budget } of [open, announced]) assert.deepEqual([ends, budget.left], [['complete abcd'], 100]);
    announced.collector.end();
    announced.collector.aborted();
    assert.equal(announced.ends.length, 1);
  });

  it('is not taken for whole when it broke off, or is not what was announced', () => {
    for (const finish of ['end', 'aborted'] as const) {
      const { collector, ends, budget, chunk } = collect({ length: 4 });
      chunk('abc');
      collector[finish]();
      assert.deepEqual([ends, budget.left], [['broken'], 100]);
    }
    const more = collect({ length: 4 });
    more.chunk('abcde');
    assert.deepEqual([more.ends, more.budget.left], [['too large'], 100]);
  });

  it('is given up when it is too large, or too many are under way', () => {
    for (const options of [{ limit: 3 }, { budget: 3 }]) {
      const { collector, ends, budget, chunk } = collect(options);
      const before = budget.left;
      chunk('abc');
      assert.equal(budget.left, before - 3);
      chunk('d');
      chunk('e');
      collector.end();
      assert.deepEqual([ends, budget.left], [['too large'], before]);
    }
  });
});
