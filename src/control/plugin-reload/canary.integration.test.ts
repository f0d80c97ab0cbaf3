import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until, untilPasses } from '../../../test/support/until.ts';
import { Load } from './load.fixture.ts';
import { answering, type PluginSource, type ReloadRig, startReloadRig } from './reload.fixture.ts';
import type { ReloadOutcome } from './reload-outcome.ts';

/** `RELOADS=100` for the whole count. */
const reloads = Number(process.env['RELOADS'] ?? 3);
const observe = Number(process.env['RELOAD_OBSERVE'] ?? 1000);
const workers = { settings: { workers: 2 } };

async function underLoad(rig: ReloadRig, run: (load: Load) => Promise<void>): Promise<Load> {
  const load = new Load(rig.rig.port);
  try {
    await until(() => load.requests > 500);
    await run(load);
  } finally {
    await load.stop();
  }
  return load;
}

test('reloads of code that behaves alike are live, and no request fails', async (t) => {
  await using rig = await startReloadRig(answering('0'), workers);
  const outcomes: ReloadOutcome[] = [];
  const load = await underLoad(rig, async () => {
    for (let reload = 1; reload <= reloads; reload++) {
      await rig.write(answering(String(reload % 7)));
      outcomes.push(await rig.reload(observe));
    }
  });
  t.diagnostic(`${outcomes.length} reloads, ${load.requests} requests`);
  assert.deepEqual(
    outcomes.filter(({ state }) => state !== 'live'),
    [],
  );
  assert.ok(outcomes.every(({ judged_by: requests = 0 }) => requests >= 10));
  assert.deepEqual(load.failures, []);
});

const faults: readonly (readonly [string, PluginSource, RegExp])[] = [
  [
    'throws in 5 % of its requests',
    {
      setup:
        "return { access: () => { if (Math.random() < 0.05) throw new Error('planted'); return replyText(200, 'two'); } };",
    },
    /failed \d+ times/,
  ],
  [
    'is 50 ms slower, and waits',
    {
      setup:
        "return { access: async () => { await new Promise((go) => setTimeout(go, 50)); return replyText(200, 'two'); } };",
    },
    /time is longer/,
  ],
  [
    'is 50 ms slower, and calculates',
    {
      setup:
        "return { access: () => { for (const end = performance.now() + 50; performance.now() < end; ); return replyText(200, 'two'); } };",
    },
    // The other requests of the worker wait, and the gateway may refuse them.
    /time is longer|was a 5xx/,
  ],
];

for (const [name, source, reason] of faults) {
  test(`code that ${name} is rolled back within 5 s`, async (t) => {
    await using rig = await startReloadRig(answering('one'), workers);
    const outcomes: ReloadOutcome[] = [];
    const load = await underLoad(rig, async (running) => {
      await rig.write(source);
      outcomes.push(await rig.reload(10_000));
      const { requests } = running;
      await until(() => running.requests > requests + 500);
    });
    const [{ state, took, reason: why = '' } = { state: '', took: 0 }] = outcomes;
    t.diagnostic(JSON.stringify(outcomes));
    assert.equal(state, 'rolled_back');
    assert.match(why, reason);
    // Within 5 s; a machine may be busy with other tests.
    assert.ok(took < 10_000, `${took} ms`);
    t.diagnostic(`${load.failures.length} of ${load.requests} requests failed`);
    assert.ok(load.failures.length <= 10, `${load.failures.length} of ${load.requests} requests failed`);
    assert.equal(await rig.text(), 'one');
  });
}

test('a worker that ends while it is observed starts with the old code, although the files have the new', async () => {
  await using rig = await startReloadRig(answering('one'), workers);
  const first = new Load(rig.rig.port, 4);
  await until(() => first.requests > 50);
  await rig.write({
    setup: "setTimeout(() => (process as any).reallyExit(1), 300); return { access: () => replyText(200, 'two') };",
  });
  const outcome = await rig.reload(10_000);
  await first.stop();
  assert.equal(outcome.state, 'rolled_back');
  assert.match(outcome.reason ?? '', /ended or does not respond/);
  await untilPasses(async () => {
    const { body } = await rig.rig.gateway.admin('GET', '/status');
    assert.equal((body['memory'] as { workers_lua_vms: unknown[] }).workers_lua_vms.length, 2);
  });
  for (let request = 0; request < 20; request++) assert.equal(await rig.text(), 'one');
});

test('a worker in an endless loop is rolled back', async () => {
  await using rig = await startReloadRig(answering('one'), workers);
  await rig.write({ setup: 'setTimeout(() => { for (;;); }, 100); return {};' });
  const outcome = await rig.reload(10_000);
  assert.equal(outcome.state, 'rolled_back');
  assert.match(outcome.reason ?? '', /ended or does not respond/);
  await untilPasses(async () => assert.equal(await rig.text(), 'one'));
});

test('a single worker is compared with itself before; without requests nothing can be judged', async () => {
  await using rig = await startReloadRig(answering('one'));
  await rig.write(answering('two'));
  const idle = await rig.reload(200);
  assert.deepEqual([idle.state, idle.judged_by], ['live', 0]);
  assert.match(idle.reason ?? '', /too few/);
  await rig.write(faults[0]![1]);
  await underLoad(rig, async () => {
    const outcome = await rig.reload(5000);
    assert.equal(outcome.state, 'rolled_back');
  });
  assert.equal(await rig.text(), 'two');
});
