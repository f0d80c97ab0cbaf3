import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MetricFamily } from '../../plugin-sdk/metrics.ts';
import { gauge } from './families.ts';
import { metricsStream } from './metrics-stream.ts';

/** A family of 200,000 series: 5 MB. `made` is the number of generated series, `ended` says that no more are requested. */
function largeFamily() {
  const state = { made: 0, ended: false };
  const series = {
    *[Symbol.iterator]() {
      try {
        for (; state.made < 200_000; state.made++) yield { labels: [`value ${state.made}`], value: 1 };
      } finally {
        state.ended = true;
      }
    },
  };
  const family: MetricFamily = { ...gauge('g', 'G', ['l'], []), series };
  return { state, family };
}

test('the page is generated no faster than it is read, and no further after the client disconnects', async () => {
  const { state, family } = largeFamily();
  const stream = metricsStream([family], 'prometheus', () => assert.fail());
  await once(stream, 'readable');
  stream.read();
  for (let turn = 0; turn < 100; turn++) await nextTurn();
  assert.ok(state.made > 0 && state.made < 20_000, String(state.made));
  stream.destroy();
  await once(stream, 'close');
  await nextTurn();
  assert.equal(state.ended, true);
  assert.ok(state.made < 20_000);
});

test('other work runs while it is generated', async () => {
  const { family } = largeFamily();
  let turns = 0;
  let over = false;
  const count = async (): Promise<void> => {
    for (; !over; turns++) await nextTurn();
  };
  const counting = count();
  let bytes = 0;
  for await (const piece of metricsStream([family], 'openmetrics', () => assert.fail())) bytes += piece.length;
  over = true;
  await counting;
  assert.ok(bytes > 4_000_000);
  assert.ok(turns > 2, String(turns));
});
