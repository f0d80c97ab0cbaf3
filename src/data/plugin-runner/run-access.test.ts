import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccessContext, NoneAuthenticated } from '../../plugin-sdk/contexts.ts';
import { refuse } from '../../plugin-sdk/reply.ts';
import type { ConsumerView } from '../../plugin-sdk/request-views.ts';
import { TestClient } from '../../plugin-testing/test-client.ts';
import { testExchange } from '../../plugin-testing/test-exchange.ts';
import { privateMeter } from '../../shared/zones/plugin-meter.ts';
import { runHeaderFilter, runLog } from './phases.ts';
import type { PluginInstance } from './plan.ts';
import { PlanBuilder, type PlanEntry } from './plan-builder.ts';
import { runAccess } from './run-access.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };
const anna: ConsumerView = { id: 'anna', username: 'anna', customId: null, tags: [] };
const bert: ConsumerView = { id: 'bert', username: 'bert', customId: null, tags: [] };

/** Records the phase and the instance that run in `ran`. */
function recorder(ran: string[], id: string, name: string, priority: number): PluginInstance {
  const note = (phase: string) => () => {
    ran.push(`${phase} ${id}`);
    return undefined;
  };
  const phases = { access: note('access'), headerFilter: note('headerFilter'), log: note('log') };
  return { id, name, priority, phases, needs: {}, log, lease: null, meter: privateMeter(), budget: null, mark: 0 };
}

function authenticator(name: string, priority: number, who: (context: AccessContext) => void | Promise<void>) {
  const access = (context: AccessContext) => who(context) as undefined;
  return {
    id: name,
    name,
    priority,
    phases: { access },
    needs: {},
    log,
    lease: null,
    meter: privateMeter(),
    budget: null,
    mark: 0,
  } satisfies PluginInstance;
}

function globally(instance: PluginInstance): PlanEntry {
  return { routeId: null, serviceId: null, consumerId: null, instance };
}

async function run(entries: readonly PlanEntry[]): Promise<void> {
  const builder = new PlanBuilder();
  for (const entry of entries) builder.upsert(entry);
  const exchange = testExchange({}, builder.globalPlan, new TestClient(), (id) => builder.planFor('r', 's', id));
  assert.equal(await runAccess(exchange), undefined);
  runHeaderFilter(exchange);
  runLog(exchange);
}

for (const [kind, who] of [
  ['at once', (context: AccessContext) => context.authenticate(anna, null)],
  [
    'later',
    async (context: AccessContext) => {
      await Promise.resolve();
      context.authenticate(anna, null);
    },
  ],
] as const) {
  test(`when a plugin names the consumer ${kind}, lower plugins run with the consumer's instances`, async () => {
    const ran: string[] = [];
    await run([
      globally(recorder(ran, 'high-global', 'high', 30)),
      { ...globally(recorder(ran, 'high-anna', 'high', 30)), consumerId: 'anna' },
      globally(authenticator('auth', 20, who)),
      globally(recorder(ran, 'low-global', 'low', 10)),
      { ...globally(recorder(ran, 'low-anna', 'low', 10)), consumerId: 'anna' },
      { ...globally(recorder(ran, 'lowest-bert', 'lowest', 5)), consumerId: 'bert' },
    ]);
    // The instance of `high` was chosen before the consumer was known, and it stays for the later phases.
    assert.deepEqual(ran, [
      'access high-global',
      'access low-anna',
      'headerFilter high-global',
      'headerFilter low-anna',
      'log high-global',
      'log low-anna',
    ]);
  });
}

test('an instance that only the consumer has runs too', async () => {
  const ran: string[] = [];
  await run([
    globally(authenticator('auth', 20, (context) => context.authenticate(bert, null))),
    { ...globally(recorder(ran, 'lowest-bert', 'lowest', 5)), consumerId: 'bert' },
    { ...globally(recorder(ran, 'above-bert', 'above', 25)), consumerId: 'bert' },
  ]);
  assert.deepEqual(ran, ['access lowest-bert', 'headerFilter lowest-bert', 'log lowest-bert']);
});

test('the last plugin that names a consumer decides, each from its position on', async () => {
  const ran: string[] = [];
  await run([
    globally(authenticator('auth-a', 20, (context) => context.authenticate(anna, null))),
    { ...globally(recorder(ran, 'middle-anna', 'middle', 15)), consumerId: 'anna' },
    { ...globally(recorder(ran, 'middle-bert', 'middle', 15)), consumerId: 'bert' },
    globally(authenticator('auth-b', 12, (context) => context.authenticate(bert, null))),
    { ...globally(recorder(ran, 'low-anna', 'low', 10)), consumerId: 'anna' },
    { ...globally(recorder(ran, 'low-bert', 'low', 10)), consumerId: 'bert' },
  ]);
  assert.deepEqual(
    ran.filter((step) => step.startsWith('access')),
    ['access middle-anna', 'access low-bert'],
  );
});

test('requests of one consumer share one merged plan', () => {
  const builder = new PlanBuilder();
  builder.upsert(globally(recorder([], 'high-global', 'high', 30)));
  builder.upsert({ ...globally(recorder([], 'high-anna', 'high', 30)), consumerId: 'anna' });
  builder.upsert(globally(authenticator('auth', 20, (context) => context.authenticate(anna, null))));
  const plans = [1, 2].map(() => {
    const exchange = testExchange({}, builder.globalPlan, new TestClient(), (id) => builder.planFor('r', 's', id));
    runAccess(exchange);
    return exchange.plan;
  });
  assert.equal(plans[0], plans[1]);
  assert.notEqual(plans[0], builder.globalPlan);
});

test('without plugins in access no context is created', () => {
  const exchange = testExchange({}, new PlanBuilder().globalPlan, new TestClient());
  assert.equal(runAccess(exchange), undefined);
  assert.equal(exchange.context, null);
});

test('no further plugin runs for a request that ended while a plugin was waiting', async () => {
  const ran: string[] = [];
  const builder = new PlanBuilder();
  builder.upsert(globally(authenticator('slow', 20, () => Promise.resolve())));
  builder.upsert(globally(recorder(ran, 'next', 'next', 10)));
  const exchange = testExchange({}, builder.globalPlan, new TestClient());
  const pending = runAccess(exchange);
  exchange.finished = true;
  await pending;
  assert.deepEqual(ran, []);
});

function chooser(names: readonly string[], otherwise: NoneAuthenticated): PluginInstance {
  return authenticator('choose', 40, (context) => context.authenticateWithAny(new Set(names), otherwise));
}

function refuser(name: string, priority: number): PluginInstance {
  const access = () => refuse(401, 'Unauthorized');
  return {
    id: name,
    name,
    priority,
    phases: { access },
    needs: {},
    log,
    lease: null,
    meter: privateMeter(),
    budget: null,
    mark: 0,
  };
}

test('of alternatives, the one that accepts brings the instances of its consumer, and the others are skipped there too', async () => {
  const ran: string[] = [];
  const credential = { id: 'c', identifier: null };
  await run([
    globally(chooser(['first', 'second', 'third'], () => assert.fail('one has accepted'))),
    globally(refuser('first', 30)),
    globally(authenticator('second', 20, (context) => context.authenticate(anna, credential))),
    globally(refuser('third', 15)),
    { ...globally(refuser('third', 15)), consumerId: 'anna' },
    { ...globally(recorder(ran, 'low-anna', 'low', 10)), consumerId: 'anna' },
  ]);
  assert.deepEqual(ran, ['access low-anna', 'headerFilter low-anna', 'log low-anna']);
});

test('when no alternative accepts, the instances of the fallback consumer run', async () => {
  const ran: string[] = [];
  const asked: number[] = [];
  await run([
    globally(
      chooser(['first', 'second'], (context, refusals, count) => {
        asked.push(refusals.length, count);
        context.authenticate(bert, null);
        return undefined;
      }),
    ),
    globally(refuser('first', 30)),
    globally(refuser('second', 20)),
    globally(recorder(ran, 'low-global', 'low', 10)),
    { ...globally(recorder(ran, 'low-bert', 'low', 10)), consumerId: 'bert' },
  ]);
  assert.deepEqual(asked, [2, 2]);
  assert.deepEqual(ran, ['access low-bert', 'headerFilter low-bert', 'log low-bert']);
});
