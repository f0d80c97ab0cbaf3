import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BodyCollector } from './body-collector.ts';

/** A collector that records its outcome. */
function collect(options: { readonly length?: number; readonly limit?: number; readonly budget?: number }) {
  const budget = { available: options.budget ?? 100 };
  const ends: string[] = [];
  const collector = new BodyCollector({
    length: options.length ?? -1,
    limit: options.limit ?? 10,
    budget,
    complete: (body) => ends.push(`complete ${Buffer.from(body)}`),
    failed: (aborted) => ends.push(aborted ? 'aborted' : 'too large'),
  });
  return { collector, ends, budget, chunk: (text: string) => collector.chunk(Buffer.from(text)) };
}

describe('the copy of a response body', () => {
  it('is complete at the end, or with the last byte of a known length', () => {
    const open = collect({});
    open.chunk('ab');
    open.chunk('cd');
    assert.deepEqual(open.ends, []);
    open.collector.end();
    const announced = collect({ length: 4 });
    announced.chunk('ab');
    announced.chunk('cd');
    for (const { ends, budget } of [open, announced])
      assert.deepEqual([ends, budget.available], [['complete abcd'], 100]);
    announced.collector.end();
    announced.collector.aborted();
    assert.equal(announced.ends.length, 1);
  });

  it('is incomplete if the response was aborted or its length differs', () => {
    for (const finish of ['end', 'aborted'] as const) {
      const { collector, ends, budget, chunk } = collect({ length: 4 });
      chunk('abc');
      collector[finish]();
      assert.deepEqual([ends, budget.available], [['aborted'], 100]);
    }
    const more = collect({ length: 4 });
    more.chunk('abcde');
    assert.deepEqual([more.ends, more.budget.available], [['too large'], 100]);
  });

  it('is discarded if it is too large, or exceeds the shared budget', () => {
    for (const options of [{ limit: 3 }, { budget: 3 }]) {
      const { collector, ends, budget, chunk } = collect(options);
      const before = budget.available;
      chunk('abc');
      assert.equal(budget.available, before - 3);
      chunk('d');
      chunk('e');
      collector.end();
      assert.deepEqual([ends, budget.available], [['too large'], before]);
    }
  });
});
