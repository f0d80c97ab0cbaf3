import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Exchange } from '../request/exchange.ts';
import type { ExplainerParts } from './explainer.ts';
import { LateExplainer } from './late-explainer.ts';

/** The parts of a request that an explainer reads when it has no valid token. */
function stranger(): Exchange {
  return { startedAt: 1_000, startedMono: 500, head: { debug: null } } as unknown as Exchange;
}

test('only the first request waits until the explainer is loaded', () => {
  const explainer = new LateExplainer({ token: 'token' } as ExplainerParts);
  const first = stranger();
  explainer.begin(first);
  const spent = first.startedMono - 500;
  assert.ok(spent > 0, 'loading takes time');
  assert.ok(Math.abs(first.startedAt - 1_000 - spent) < 0.001);
  const second = stranger();
  explainer.begin(second);
  assert.deepEqual([second.startedAt, second.startedMono], [1_000, 500]);
});
