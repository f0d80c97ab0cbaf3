import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../../test/support/until.ts';
import { fetchPath, pluginFolder, startDev, wordHandler, wordPlugin } from '../dev/testing/dev-process.ts';
import { runCommand } from '../testing/run-command.ts';

const browser = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

/** Resolves when the answer passes. */
async function untilAnswer(url: string, passes: (answer: Awaited<ReturnType<typeof fetchPath>>) => boolean) {
  await until(async () => passes(await fetchPath(url)));
}

test('in the folder of a plugin it starts a gateway with the plugin and an echo behind it', async (t) => {
  const dev = startDev(t, wordPlugin('first'));
  await dev.started();
  const answer = await fetchPath(`${dev.proxy()}/users?x=1`, { 'X-Asked': 'yes' });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['word'], 'first!');
  const seen = JSON.parse(answer.body) as { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  assert.equal(seen.url, '/users?x=1');
  assert.equal(seen.headers['x-asked'], 'yes');
  await dev.printed(/GET {2}\/users {2}200 {2}\d/);
  assert.ok(!dev.output().includes('\x1b'), 'no colours without a terminal');
});

test('a save is live, however the editor writes it', async (t) => {
  const dev = startDev(t, wordPlugin('first'));
  await dev.started();
  dev.write('handler.ts', wordHandler('second'));
  await untilAnswer(dev.proxy(), ({ headers }) => headers['word'] === 'second!');
  await dev.printed(/reloaded my-policy in \d+ ms \(handler\.ts\)/);
  dev.replace('handler.ts', wordHandler('third'));
  await untilAnswer(dev.proxy(), ({ headers }) => headers['word'] === 'third!');
  // A file that the newest save began to import.
  dev.write('words.ts', "export const word = 'fourth';\n");
  dev.write('handler.ts', `import { word } from './words.ts';\n${wordHandler('').replace("''", 'word')}`);
  await untilAnswer(dev.proxy(), ({ headers }) => headers['word'] === 'fourth!');
  dev.replace('words.ts', "export const word = 'fifth';\n");
  await untilAnswer(dev.proxy(), ({ headers }) => headers['word'] === 'fifth!');
  assert.ok(!dev.output().includes('?version='));
});

test('while the newest save cannot be loaded, terminal and clients get the source line', async (t) => {
  const dev = startDev(t, wordPlugin('first'));
  await dev.started();
  dev.write('handler.ts', `${wordHandler('second')}const broken = = 1;\n`);
  await dev.printed(/const broken = = 1;\n +\| +\^/);
  const line = wordHandler('').split('\n').length;
  assert.match(dev.output(), new RegExp(`\\n +handler\\.ts:${line}:16\\n`));
  const page = await fetchPath(dev.proxy(), browser);
  assert.equal(page.status, 500);
  assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
  assert.equal(page.headers['cache-control'], 'no-store');
  assert.match(String(page.headers['content-security-policy']), /^default-src 'none'/);
  assert.match(page.body, /<pre>const broken = = 1;\n {15}\^<\/pre>/);
  assert.match(page.body, new RegExp(`handler\\.ts:${line}:16`));
  assert.ok(!page.body.includes('version=') && !page.body.includes(dev.folder));
  assert.equal(page.headers['word'], undefined, 'the old code does not touch the page');
  const text = await fetchPath(dev.proxy());
  assert.match(text.body, /^my-policy: the newest save cannot be used\n/);
  dev.write('handler.ts', wordHandler('third'));
  await untilAnswer(dev.proxy(), ({ status, headers }) => status === 200 && headers['word'] === 'third!');
});

test('the code from before the error, saved again, ends the error', async (t) => {
  const dev = startDev(t, wordPlugin('first'));
  await dev.started();
  dev.write('schema.ts', 'export const config = nothing;\n');
  await untilAnswer(dev.proxy(), ({ status }) => status === 500);
  await dev.printed(/nothing is not defined/);
  dev.write('schema.ts', wordPlugin('')['schema.ts'] ?? '');
  await untilAnswer(dev.proxy(), ({ status, headers }) => status === 200 && headers['word'] === 'first!');
});

test('a deleted module is an error until it is there again', async (t) => {
  const dev = startDev(t, wordPlugin('first'));
  await dev.started();
  rmSync(join(dev.folder, 'handler.ts'));
  await untilAnswer(dev.proxy(), ({ status, body }) => status === 500 && body.includes('handler.ts'));
  dev.write('handler.ts', wordHandler('second'));
  await untilAnswer(dev.proxy(), ({ headers }) => headers['word'] === 'second!');
});

test('an exception in a phase is shown with the source line, escaped once', async (t) => {
  const files = { ...wordPlugin('first'), 'handler.ts': wordHandler('first', "throw new Error('<b>no</b> & co');") };
  const dev = startDev(t, files);
  await dev.started();
  const page = await fetchPath(dev.proxy(), browser);
  assert.equal(page.status, 500);
  assert.match(page.body, /my-policy: failed in access/);
  assert.match(page.body, /&lt;b&gt;no&lt;\/b&gt; &amp; co/);
  assert.match(page.body, /handler\.ts:7:13/);
  assert.match(page.body, / throw new Error\(&#39;&lt;b&gt;/);
  assert.ok(!page.body.includes('<b>') && !page.body.includes('&amp;lt;'));
  await dev.printed(/my-policy: failed in access\n +<b>no<\/b> & co\n +handler\.ts:7:13\n/);
  const json = await fetchPath(dev.proxy(), { Accept: 'application/json' });
  assert.equal((JSON.parse(json.body) as { place: string }).place, 'handler.ts:7:13');
});

test('an exception in setup is shown, at the start and after a save', async (t) => {
  const failing = wordHandler('first').replace(
    '  return {',
    "  if (config.suffix === '!') throw new Error('no setup');\n  return {",
  );
  const dev = startDev(t, { ...wordPlugin('first'), 'handler.ts': failing });
  await dev.started();
  assert.match((await fetchPath(dev.proxy(), browser)).body, /failed in setup[\s\S]*no setup[\s\S]*handler\.ts:5:36/);
  await dev.printed('no setup');
  dev.write('handler.ts', wordHandler('second'));
  await untilAnswer(dev.proxy(), ({ headers }) => headers['word'] === 'second!');
  const since = dev.sinceNow();
  dev.write('handler.ts', failing);
  await untilAnswer(dev.proxy(), ({ status }) => status === 500);
  await until(() => /no setup\n +handler\.ts:5:36\n/.test(since()));
  assert.match((await fetchPath(dev.proxy(), browser)).body, /no setup[\s\S]*handler\.ts:5:36/);
});

test('a plugin that cannot be loaded at the start is shown, and the gateway starts with the save that mends it', async (t) => {
  const dev = startDev(t, { ...wordPlugin('first'), 'handler.ts': 'export const x = ;\n' });
  await dev.printed(/handler\.ts:1:18[\s\S]*waiting for a save/);
  dev.write('handler.ts', wordHandler('second'));
  await dev.started();
  assert.equal((await fetchPath(dev.proxy())).headers['word'], 'second!');
});

test('a configuration that a plugin needs is named, and comes from dev.config.json', async (t) => {
  const files = wordPlugin('first');
  const schema = (files['schema.ts'] ?? '').replace("default: '!', ", '');
  const dev = startDev(t, { ...files, 'schema.ts': schema });
  await dev.printed(/config\.suffix: required field missing[\s\S]*dev\.config\.json/);
  assert.equal((await fetchPath(dev.proxy())).status, 500);
  dev.write('dev.config.json', '{"suffix":"?"}');
  await untilAnswer(dev.proxy(), ({ headers }) => headers['word'] === 'first?');
  dev.write('dev.config.json', '{"suffix":');
  await dev.printed(/dev\.config\.json is not valid JSON/);
});

test('a save may need another configuration than the one before, and give other defaults', async (t) => {
  const files = wordPlugin('first');
  const dev = startDev(t, files);
  await dev.started();
  const schema = files['schema.ts'] ?? '';
  dev.write('schema.ts', schema.replace("default: '!'", "default: '.'"));
  await dev.printed(/reloaded my-policy/);
  dev.write('schema.ts', schema.replaceAll('suffix', 'ending').replace("default: '!', ", ''));
  dev.write('handler.ts', wordHandler('second').replace('config.suffix', 'config.ending'));
  await dev.printed(/config\.ending: required field missing/);
  dev.write('dev.config.json', '{"ending":"-"}');
  await untilAnswer(dev.proxy(), ({ headers }) => headers['word'] === 'second-');
});

test('a plugin that gets another name is used at once', async (t) => {
  const files = wordPlugin('first');
  const dev = startDev(t, files);
  await dev.started();
  dev.write('index.ts', (files['index.ts'] ?? '').replace('my-policy', 'other-policy'));
  await dev.printed(/plugins +other-policy/);
});

test('--config uses and watches a declarative file, with a plugin in another folder', async (t) => {
  const kong = (path: string): string => `_format_version: "3.0"
services:
- name: none
  url: http://127.0.0.1:9
  routes:
  - { name: a, paths: ["${path}"], plugins: [{ name: my-policy }] }
`;
  const answering = wordHandler('first', "return { status: 200, headers: [], body: 'mine', message: null };");
  const files = Object.entries({ ...wordPlugin('first'), 'handler.ts': answering });
  const inFolder = Object.fromEntries(files.map(([name, text]) => [`my-policy/${name}`, text]));
  const args = ['./my-policy', '--config', 'kong.yaml'];
  const dev = startDev(t, { ...inFolder, 'kong.yaml': kong('/a') }, { args });
  await dev.started();
  assert.equal((await fetchPath(`${dev.proxy()}/a`)).body, 'mine');
  assert.equal((await fetchPath(`${dev.proxy()}/b`)).status, 404);
  dev.write('kong.yaml', kong('/b'));
  await untilAnswer(`${dev.proxy()}/b`, ({ status }) => status === 200);
  dev.write('my-policy/handler.ts', answering.replace("'first'", "'second'"));
  await untilAnswer(`${dev.proxy()}/b`, ({ headers }) => headers['word'] === 'second!');
});

test('a proxy that is not on loopback shows no source', async (t) => {
  const files = { ...wordPlugin('first'), 'handler.ts': wordHandler('first', "throw new Error('secret place');") };
  const listeners = ['--proxy-listen', '0.0.0.0:0', '--admin-listen', '127.0.0.1:0', '--admin-gui-listen', 'off'];
  const dev = startDev(t, files, { listeners });
  await dev.started();
  await dev.printed(/not loopback/);
  const page = await fetchPath(dev.proxy(), browser);
  assert.equal(page.status, 500);
  assert.ok(!page.body.includes('secret place') && !page.body.includes('handler.ts'));
  await dev.printed(/secret place/);
  dev.write('handler.ts', 'export const x = ;\n');
  await dev.printed(/the newest save cannot be used/);
  const second = await fetchPath(dev.proxy(), browser);
  assert.equal(second.status, 500);
  assert.ok(!second.body.includes('export const'));
});

test('a request to a public host name shows no source, as DNS rebinding could lead it here', async (t) => {
  const files = { ...wordPlugin('first'), 'handler.ts': wordHandler('first', "throw new Error('secret place');") };
  const dev = startDev(t, files);
  await dev.started();
  const body = async (host: string): Promise<string> => (await fetchPath(dev.proxy(), { Host: host })).body;
  assert.ok(!(await body('shop.evil.net')).includes('secret place'));
  assert.match(await body('api.localhost:8000'), /secret place/);
});

test('with --config, code and file that change together are both used', async (t) => {
  const kong = (config: string): string => `_format_version: "3.0"
plugins:
- { name: my-policy, config: ${config} }
services:
- { name: none, url: "http://127.0.0.1:9", routes: [{ name: all, paths: ["/"] }] }
`;
  const files = wordPlugin('first');
  const dev = startDev(t, { ...files, 'kong.yaml': kong('{ suffix: "?" }') }, { args: ['--config', 'kong.yaml'] });
  await dev.started();
  await untilAnswer(dev.proxy(), ({ headers }) => headers['word'] === 'first?');
  dev.write('schema.ts', (files['schema.ts'] ?? '').replaceAll('suffix', 'ending').replace("default: '!', ", ''));
  dev.write('handler.ts', wordHandler('second').replace('config.suffix', 'config.ending'));
  await dev.printed('starting again');
  dev.write('kong.yaml', kong('{ ending: "-" }'));
  await until(async () => {
    // The gateway is between two starts, perhaps.
    const found = await fetchPath(lastProxy(dev.output())).catch(() => null);
    return found?.headers['word'] === 'second-';
  });
});

/** Of the newest start. */
function lastProxy(output: string): string {
  return [...output.matchAll(/^ {2}proxy +(http:\/\/\S+)/gm)].at(-1)?.[1] ?? '';
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`${signal} ends it at once, with requests in flight, and leaves nothing behind`, async (t) => {
    const slow = wordHandler('first', 'await new Promise(() => {});').replace('access(', 'async access(');
    const dev = startDev(t, { ...wordPlugin('first'), 'handler.ts': slow });
    await dev.started();
    const waiting = fetchPath(dev.proxy()).then(
      () => 'answered',
      () => 'cut off',
    );
    dev.child.kill(signal);
    assert.equal(await dev.exit, 0);
    assert.equal(await waiting, 'cut off');
    assert.ok(!existsSync(join(dev.folder, '.sluicegate')));
    assert.deepEqual(readdirSync(dev.temporary), []);
  });
}

test('what cannot be meant is refused before anything starts', async (t) => {
  const empty = pluginFolder(t, { 'README.md': '' });
  const none = await runCommand(empty, 'dev');
  assert.equal(none.code, 1);
  assert.match(none.errors, /there is no plugin in this folder/);
  const folder = pluginFolder(t, wordPlugin('first'));
  const database = await runCommand(folder, 'dev', '--database', 'postgres');
  assert.match(database.errors, /sluicegate dev chooses database itself/);
  const help = await runCommand(folder, 'dev', '--help');
  assert.equal(help.code, 0);
  assert.match(help.output, /Usage: sluicegate dev \[plugin\]\.\.\. \[OPTIONS\]/);
});
