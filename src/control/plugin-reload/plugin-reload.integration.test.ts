import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { until, untilPasses } from '../../../test/support/until.ts';
import { answering, startReloadRig } from './reload.fixture.ts';

test('new code is live in all workers, without a dropped request; an undone change costs no memory', async () => {
  await using rig = await startReloadRig(answering('one'), { settings: { workers: 2 } });
  assert.equal(await rig.text(), 'one');
  assert.deepEqual((await rig.reload()).state, 'unchanged');
  await rig.write(answering('two'));
  const { took, ...outcome } = await rig.reload();
  assert.deepEqual(outcome, { state: 'live', plugins: ['mine'] });
  assert.ok(took > 0);
  for (let request = 0; request < 8; request++) assert.equal(await rig.text(), 'two');
  await rig.write(answering('one'));
  assert.equal((await rig.reload()).state, 'live');
  assert.equal(await rig.text(), 'one');
});

test('code that cannot be loaded is refused with file, line and column; the old code runs on', async () => {
  await using rig = await startReloadRig(answering('one'));
  const handler = join(rig.folder, 'handler.ts');
  await rig.writeFile('handler.ts', 'export const setup = () => ({});\nconst = 1;\n');
  const syntax = await rig.reload();
  assert.equal(syntax.state, 'refused');
  assert.deepEqual([syntax.problem?.file, syntax.problem?.line, syntax.problem?.column], [handler, 2, 7]);
  await rig.writeFile('handler.ts', "\n  throw new Error('not today');\nexport const setup = () => ({});\n");
  const thrown = await rig.reload();
  assert.deepEqual([thrown.problem?.file, thrown.problem?.line], [handler, 2]);
  assert.match(thrown.reason ?? '', /not today/);
  assert.doesNotMatch(JSON.stringify(thrown), /version=/);
  await rig.writeFile('handler.ts', 'process.exit(3);\nexport const setup = () => ({});\n');
  assert.match((await rig.reload()).reason ?? '', /process\.exit/);
  await rig.writeFile('handler.ts', 'for (;;);\nexport const setup = () => ({});\n');
  assert.match((await rig.reload()).reason ?? '', /did not finish loading/);
  assert.equal(await rig.text(), 'one');
  await rig.write(answering('two'));
  assert.equal((await rig.reload()).state, 'live');
  assert.equal(await rig.text(), 'two');
});

test('what a running node cannot exchange is refused with the reason', async () => {
  const files = { 'old.cjs': 'module.exports = 1;' };
  const begin = "import './old.cjs';";
  await using rig = await startReloadRig({ ...answering('one'), begin }, { files });
  await rig.writeFile('old.cjs', 'module.exports = 2;');
  assert.match((await rig.reload()).reason ?? '', /CommonJS.*old\.cjs/);
  await rig.writeFile('old.cjs', files['old.cjs']);
  await rig.write({ ...answering('one'), begin, more: "name: 'other'," });
  assert.match((await rig.reload()).reason ?? '', /other names/);
  const routes = 'export const adminRoutes = () => [];';
  await rig.writeFile('admin.ts', routes);
  await rig.write({ ...answering('one'), begin, more: `adminRoutes: () => import('./admin.ts'),` });
  assert.match((await rig.reload()).reason ?? '', /other paths of the Admin API/);
  assert.equal(await rig.text(), 'one');
});

test('stored rows have the fields that only the new schema has', async () => {
  await using rig = await startReloadRig(answering('one'));
  const fields = 'text: string({}), mode: string({ required: true, default: "fast" })';
  await rig.write({
    fields,
    setup: 'const text = [config.text, config.mode].map(String).join(); return { access: () => replyText(200, text) };',
  });
  assert.equal((await rig.reload()).state, 'live');
  assert.equal(await rig.text(), 'null,fast');
});

test('rows that the new schema refuses refuse the code; a new field is known to the Admin API', async () => {
  await using rig = await startReloadRig(
    { ...answering('one'), fields: 'limit: integer({})' },
    { config: { limit: 5 } },
  );
  await rig.write({ ...answering('two'), fields: 'limit: integer({ between: [6, 9] })' });
  const refused = await rig.reload();
  assert.equal(refused.state, 'refused');
  assert.match(refused.reason ?? '', /limit.*between 6 and 9/);
  await rig.write({ ...answering('two'), fields: 'limit: integer({}), text: string({ default: "x" })' });
  assert.equal((await rig.reload()).state, 'live');
  const schema = await rig.rig.gateway.admin('GET', '/schemas/plugins/mine');
  assert.match(JSON.stringify(schema.body), /"text"/);
  const { body } = await rig.rig.gateway.admin('GET', '/plugins');
  const [{ id } = { id: '' }] = body['data'] as { id: string }[];
  const changed = await rig.rig.gateway.admin('PATCH', `/plugins/${id}`, { config: { text: 'y' } });
  assert.equal(changed.status, 200);
});

test('code whose setup throws is rolled back, with the place', async () => {
  await using rig = await startReloadRig(answering('one'), { settings: { workers: 2 } });
  await rig.write({ setup: "throw new Error('no table');" });
  const outcome = await rig.reload();
  assert.equal(outcome.state, 'rolled_back');
  assert.match(outcome.reason ?? '', /no table/);
  assert.equal(outcome.problem?.file, join(rig.folder, 'handler.ts'));
  for (let request = 0; request < 8; request++) assert.equal(await rig.text(), 'one');
  assert.equal((await rig.reload()).state, 'rolled_back', 'the files still have it');
});

test('a request in flight finishes with the old code, which is then disposed of', async () => {
  const events: string[] = [];
  const server = createServer((request, response) => {
    events.push(request.url ?? '');
    if (request.url !== '/wait') response.end();
    else held.push(() => response.end());
  }).listen(0);
  const held: (() => void)[] = [];
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const setup = `return {
    access: async () => { await fetch('${url}/wait'); return replyText(200, 'one'); },
    dispose: () => void fetch('${url}/disposed'),
  };`;
  await using rig = await startReloadRig({ setup });
  const pending = rig.text();
  await until(() => held.length === 1);
  await rig.write(answering('two'));
  assert.equal((await rig.reload()).state, 'live');
  assert.equal(await rig.text(), 'two');
  assert.deepEqual(events, ['/wait']);
  held[0]?.();
  assert.equal(await pending, 'one');
  await until(() => events.includes('/disposed'));
  server.close();
});

test('metrics, background parts and zones of the plugin are those of the new code', async () => {
  const background = (text: string): string =>
    `export const background = () => ({ configured() {}, handle: async () => '${text}', stop() {} });`;
  const source = (bytes: number) => ({
    setup: `return { access: async () => replyText(200, await tools.background('x') + tools.zone('z').byteLength) };`,
    more: `background: () => import('./background.ts'), zones: () => [{ name: 'z', bytes: ${bytes}, kind: 'raw' }],`,
  });
  await using rig = await startReloadRig(source(4096), { files: { 'background.ts': background('one') } });
  await untilPasses(async () => assert.equal(await rig.text(), 'one4096'));
  await rig.writeFile('background.ts', background('two'));
  await rig.write(source(8192));
  assert.equal((await rig.reload()).state, 'live');
  await untilPasses(async () => assert.equal(await rig.text(), 'two8192'));
  const { body } = await rig.rig.gateway.admin('GET', '/status');
  const zones = body['zones'] as { plugin: string; bytes: number }[];
  assert.deepEqual(
    zones.filter(({ plugin }) => plugin === 'mine').map(({ bytes }) => bytes),
    [8192],
  );
});

test('no error and no log shows under which URL a version is loaded', async (t) => {
  const throwing = (text: string) => ({
    setup: `return { access: () => { tools.log.warn('here', { at: new Error('${text}').stack }); throw new Error('${text}'); } };`,
  });
  const log = join(mkdtempSync(join(tmpdir(), 'sluicegate-log-')), 'error.log');
  t.after(() => rmSync(dirname(log), { recursive: true, force: true }));
  await using rig = await startReloadRig(throwing('first'), { env: { SLUICEGATE_PROXY_ERROR_LOG: log } });
  await rig.text();
  await rig.write(throwing('second'));
  assert.equal((await rig.reload()).state, 'live');
  await rig.text();
  await untilPasses(() => assert.match(readFileSync(log, 'utf8'), /second.*second/s));
  const text = readFileSync(log, 'utf8');
  assert.match(text, /handler\.ts:\d+:\d+/);
  assert.doesNotMatch(text, /version=/);
});
