import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AttemptOutcome, ConcurrencyLimiter, PluginTools } from '../../plugin-sdk/index.ts';
import { testPlugin } from '../../plugin-testing/index.ts';
import retries from './index.ts';
import { RequestRetries, type RetryRules } from './request-retries.ts';
import { RetryBudget, type RetryBudgetOptions } from './retry-budget.ts';

function budget(options: RetryBudgetOptions): RetryBudget {
  const concurrency = (): ConcurrencyLimiter => {
    let inFlight = 0;
    return { acquire: () => ++inFlight, release: () => void inFlight-- };
  };
  return new RetryBudget({ limits: { concurrency }, instanceId: 'i' } as unknown as PluginTools, options);
}

function rules(fields: Partial<RetryRules> = {}): RetryRules & { readonly counted: string[] } {
  const counted: string[] = [];
  return {
    retries: 2,
    onConnectFailure: true,
    onTimeout: true,
    onBrokenAnswer: true,
    statuses: new Set([503]),
    methods: new Set(['GET']),
    tryTimeout: 0,
    backoff: 0,
    backoffMax: 0,
    deadlineHeader: null,
    budget: budget({ percent: 100, min: 100 }),
    count: (name) => void counted.push(name),
    counted,
    ...fields,
  };
}

function outcome(fields: Partial<AttemptOutcome>): AttemptOutcome {
  const address = { id: 't', host: 'a', port: 80, slot: 1 };
  return {
    result: 'closed',
    status: 502,
    attempt: 1,
    address,
    duration: 1,
    sent: true,
    method: 'GET',
    repeatable: true,
    ...fields,
  };
}

test('retries the configured failures and methods', () => {
  const cases: readonly (readonly [Partial<AttemptOutcome>, boolean])[] = [
    [{ result: 'connect-failed', sent: false, method: 'POST' }, true],
    [{ result: 'connect-timeout', sent: false, method: 'POST' }, true],
    [{ result: 'first-byte-timeout' }, true],
    [{ result: 'first-byte-timeout', method: 'POST' }, false],
    [{ result: 'try-timeout' }, true],
    [{ result: 'closed', method: 'DELETE' }, false],
    [{ result: 'bad-answer' }, true],
    [{ result: 'answered', status: 503 }, true],
    [{ result: 'answered', status: 500 }, false],
    [{ result: 'answered', status: 503, method: 'POST' }, false],
    [{ result: 'total-timeout' }, false],
    [{ result: 'stopped' }, false],
  ];
  for (const [fields, again] of cases) {
    const pause = new RequestRetries(rules(), 's').next(outcome(fields));
    assert.equal(pause !== null, again, JSON.stringify(fields));
  }
  const never = rules({ onConnectFailure: false, onTimeout: false, onBrokenAnswer: false, statuses: new Set() });
  for (const [fields] of cases) assert.equal(new RequestRetries(never, 's').next(outcome(fields)), null);
});

test('stops after its retries, and counts that', () => {
  const made = rules();
  const request = new RequestRetries(made, 's');
  assert.equal(request.next(outcome({})), 0);
  assert.equal(request.next(outcome({})), 0);
  assert.equal(request.next(outcome({})), null);
  assert.equal(request.made, 2);
  assert.deepEqual(made.counted, ['retried', 'retried', 'exhausted']);
});

test('waits with random exponential back-off up to the maximum', () => {
  const longest = [0, 0, 0, 0];
  for (let run = 0; run < 500; run++) {
    const request = new RequestRetries(rules({ retries: 4, backoff: 10, backoffMax: 30 }), 's');
    for (const at of longest.keys()) longest[at] = Math.max(longest[at]!, request.next(outcome({})) ?? 0);
  }
  for (const [at, most] of [10, 20, 30, 30].entries()) {
    assert.ok(longest[at]! <= most && longest[at]! > most * 0.8, String(longest));
  }
});

test('limits retries to a share of live requests, and frees their slots', () => {
  const shared = budget({ percent: 25, min: 0 });
  const made = rules({ budget: shared });
  const requests = Array.from({ length: 8 }, () => new RequestRetries(made, 's'));
  const pauses = requests.map((request) => request.next(outcome({})));
  assert.deepEqual(
    pauses.map((pause) => pause !== null),
    [true, true, false, false, false, false, false, false],
  );
  requests[0]?.close();
  // 25 % of 7 live requests are one, and one slot is still in use.
  assert.equal(requests[2]?.next(outcome({})), null);
  requests[1]?.next(outcome({ result: 'answered', status: 200 }));
  assert.notEqual(requests[3]?.next(outcome({})), null);
  for (const request of requests) request.close();
});

test('refuses an invalid configuration', async () => {
  const plugin = testPlugin(retries);
  assert.equal((await plugin.check({})).ok, true);
  assert.equal((await plugin.check({ on: ['status'], statuses: [503], methods: ['GET', 'POST'] })).ok, true);
  for (const bad of [
    { on: ['luck'] },
    { statuses: [200] },
    { methods: ['get'] },
    { retries: 26 },
    { deadline_header: 'a b' },
  ]) {
    assert.equal((await plugin.check(bad)).ok, false, JSON.stringify(bad));
  }
});
