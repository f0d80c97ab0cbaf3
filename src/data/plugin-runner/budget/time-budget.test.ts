import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AccessContext,
  BudgetExceeded,
  definePlugin,
  httpProtocols,
  type Plugin,
  type PluginPhases,
  type Reply,
  refuse,
  type TimeBudget,
} from '../../../plugin-sdk/index.ts';
import { record } from '../../../plugin-sdk/schema.ts';
import { testPlugin } from '../../../plugin-testing/index.ts';

const schema = { config: record({}) };

function budgeted(timeBudget: TimeBudget, phases: PluginPhases, needs = {}): Plugin {
  return definePlugin({
    name: 'slow',
    version: '1.0.0',
    priority: 5,
    protocols: httpProtocols,
    schema,
    needs,
    timeBudget,
    setup: () => phases,
  });
}

/** An access phase that waits for `release`, and then does something. */
function waiting(then: (context: AccessContext) => Reply | undefined) {
  const { promise, resolve: release } = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<unknown>();
  const access = async (context: AccessContext): Promise<Reply | undefined> => {
    await promise;
    try {
      const reply = then(context);
      ended.resolve(null);
      return reply;
    } catch (error) {
      ended.resolve(error);
      throw error;
    }
  };
  return { access, release, ended: ended.promise };
}

test('a plugin over its budget is skipped; what it does later has no effect', async () => {
  const slow = waiting((context) => {
    context.upstream.setHeader('X-Late', '1');
    return refuse(403, 'too late');
  });
  const harness = testPlugin(budgeted({ access: 1, onExceeded: 'skip' }, { access: slow.access }));
  const { upstream, response } = await harness.request();
  assert.equal(response.status, 200);
  slow.release();
  assert.ok((await slow.ended) instanceof BudgetExceeded);
  assert.equal(upstream?.headers['x-late'], undefined);
  const [line] = harness.logLines;
  assert.deepEqual(
    [line?.level, line?.message, line?.fields['outcome'], line?.fields['budget_ms'], line?.fields['phase']],
    ['warn', 'plugin exceeded its time budget', 'skipped', 1, 'access'],
  );
});

test('a view that the plugin took before is closed, too', async () => {
  const { promise, resolve: release } = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<unknown>();
  const access = async ({ upstream, response }: AccessContext & { response?: unknown }): Promise<undefined> => {
    upstream.setHeader('X-Early', '1');
    await promise;
    try {
      upstream.setHeader('X-Late', '1');
    } catch (error) {
      ended.resolve(error);
    }
    return void response;
  };
  const harness = testPlugin(budgeted({ access: 1, onExceeded: 'skip' }, { access }));
  const { upstream } = await harness.request();
  release();
  assert.ok((await ended.promise) instanceof BudgetExceeded);
  assert.equal(upstream?.headers['x-early'] !== undefined, true);
});

test('a plugin over its budget refuses with 503', async () => {
  const slow = waiting(() => undefined);
  const harness = testPlugin(budgeted({ access: 1, onExceeded: 'refuse' }, { access: slow.access }));
  const { upstream, response } = await harness.request();
  slow.release();
  assert.equal(response.status, 503);
  assert.match(String(response.body), /Service temporarily unavailable/);
  assert.equal(upstream, null);
});

test('a plugin within its budget works as without one', async () => {
  const access = async (context: AccessContext): Promise<Reply | undefined> => {
    await Promise.resolve();
    context.upstream.setHeader('X-Greeted', context.request.queryArgument('name') ?? '');
    return context.request.path === '/stop' ? refuse(418, 'teapot') : undefined;
  };
  const harness = testPlugin(budgeted({ access: 60_000, onExceeded: 'skip' }, { access }));
  assert.deepEqual((await harness.request({ path: '/?name=Ada' })).upstream?.headers['x-greeted'], ['Ada']);
  assert.equal((await harness.request({ path: '/stop' })).response.status, 418);
  assert.deepEqual(harness.logLines, []);
});

test('a rejection within the budget is the 500 of the request; one after it concerns nobody', async () => {
  const failing = testPlugin(
    budgeted(
      { access: 60_000, onExceeded: 'skip' },
      {
        access: async () => {
          throw new Error('a mishap');
        },
      },
    ),
  );
  assert.equal((await failing.request()).response.status, 500);
  const slow = waiting(() => {
    throw new Error('a late mishap');
  });
  const harness = testPlugin(budgeted({ access: 1, onExceeded: 'skip' }, { access: slow.access }));
  assert.equal((await harness.request()).response.status, 200);
  slow.release();
  await slow.ended;
  assert.equal(harness.logLines.length, 1);
});

test('a phase that returns at once but late is reported, and has its effect', async () => {
  const access = (context: AccessContext): undefined => {
    const end = performance.now() + 5;
    while (performance.now() < end);
    context.upstream.setHeader('X-Done', '1');
  };
  const harness = testPlugin(budgeted({ access: 1, onExceeded: 'refuse' }, { access }));
  const { upstream } = await harness.request();
  assert.notEqual(upstream?.headers['x-done'], undefined);
  assert.equal(harness.logLines[0]?.fields['outcome'], 'late');
});

test('the response phase has a budget, too', async () => {
  const never = new Promise<undefined>(() => {});
  const needs = { responseBody: { mode: 'buffer', maxBytes: 1000 } };
  const skipping = testPlugin(budgeted({ response: 1, onExceeded: 'skip' }, { response: () => never }, needs));
  assert.equal((await skipping.request()).response.status, 200);
  const refusing = testPlugin(budgeted({ response: 1, onExceeded: 'refuse' }, { response: () => never }, needs));
  assert.equal((await refusing.request()).response.status, 503);
});

test('a plugin that may be skipped cannot authenticate anybody', async () => {
  const access = (context: AccessContext): undefined => {
    context.authenticate(null, null);
  };
  const harness = testPlugin(budgeted({ access: 60_000, onExceeded: 'skip' }, { access }));
  assert.equal((await harness.request()).response.status, 500);
  assert.match(String(harness.logLines[0]?.fields['error']), /cannot authenticate clients/);
});

for (const [budget, needs, problem] of [
  [{ access: 5, onExceeded: 'skip' }, { secrets: { headers: ['x-key'] } }, /cannot be skipped/],
  [{ access: 5, onExceeded: 'skip' }, { clientCertificate: true }, /cannot be skipped/],
  [{ access: 0, onExceeded: 'skip' }, {}, /access must be milliseconds/],
  [{ access: Number.NaN, onExceeded: 'refuse' }, {}, /access must be milliseconds/],
  [{ onExceeded: 'refuse' }, {}, /name a time/],
  [{ access: 5, onExceeded: 'ignore' }, {}, /onExceeded must be/],
  [
    { access: 5, log: 5, onExceeded: 'skip' },
    {},
    /timeBudget has log: only rewrite, access, response can have a budget/,
  ],
] as const) {
  test(`definePlugin() refuses the budget ${JSON.stringify(budget)} with ${JSON.stringify(needs)}`, () => {
    assert.throws(() => budgeted(budget as unknown as TimeBudget, {}, needs), problem);
  });
}
