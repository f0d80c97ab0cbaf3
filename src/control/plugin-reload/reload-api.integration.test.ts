import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../test/support/until.ts';
import { runCommand } from '../../cli/testing/run-command.ts';
import { answering, startReloadRig } from './reload.fixture.ts';

test('the Admin API reloads plugins, one reload at a time, and shows what came of it', async () => {
  await using rig = await startReloadRig(answering('one'));
  const { gateway } = rig.rig;
  const reload = (body: unknown) => gateway.admin('POST', '/plugins/reload', body);
  assert.deepEqual((await gateway.admin('GET', '/plugins/reload')).body, { running: false, last: null, versions: 1 });
  assert.equal((await reload({})).status, 200);
  for (const observe of [-1, 301, 'soon', null, {}]) {
    const { status, body } = await reload({ observe });
    if (observe !== null)
      assert.deepEqual([status, body['message']], [400, 'observe must be a number of seconds between 0 and 300']);
  }
  await rig.write(answering('two'));
  const first = reload('observe=2');
  await until(async () => (await gateway.admin('GET', '/plugins/reload')).body['running'] === true);
  const second = await gateway.admin('POST', '/plugins/reload?observe=0');
  assert.equal(second.status, 409);
  assert.equal(second.body['message'], 'another reload of plugins runs');
  const { status, body } = await first;
  assert.deepEqual([status, body['state'], body['plugins']], [200, 'live', ['mine']]);
  assert.equal(await rig.text(), 'two');
  await rig.writeFile('handler.ts', 'const = 1;');
  const refused = await reload({ observe: 0 });
  assert.equal(refused.status, 400);
  assert.equal((refused.body['problem'] as { line: number }).line, 1);
  const shown = await gateway.admin('GET', '/plugins/reload');
  assert.equal((shown.body['last'] as { state: string }).state, 'refused');
  assert.equal(shown.body['versions'], 2);
  await rig.write({ setup: "throw new Error('no')" });
  assert.equal((await reload({ observe: 0 })).status, 409);
  const audit = await gateway.admin('GET', '/audit');
  assert.match(JSON.stringify(audit.body), /\/plugins\/reload/);
});

test('sluicegate plugin reload says what came of it', async () => {
  await using rig = await startReloadRig(answering('one'));
  const command = (...more: readonly string[]) =>
    runCommand(rig.folder, 'plugin', 'reload', '--admin', rig.rig.gateway.adminUrl, ...more);
  assert.match((await command()).output, /has not changed/);
  await rig.write(answering('two'));
  const live = await command('--observe', '0');
  assert.deepEqual([live.code, live.output], [0, 'Live: mine']);
  await rig.writeFile('handler.ts', 'const = 1;');
  const refused = await command('--observe', '0s');
  assert.equal(refused.code, 1);
  assert.match(refused.errors, /refused: .*handler\.ts:1:7/);
  assert.match((await command('--observe', 'soon')).errors, /--observe must be/);
});
