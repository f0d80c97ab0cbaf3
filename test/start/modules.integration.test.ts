import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startGatewayProcess } from '../support/gateway-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluicegate-modules-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Writes what each thread has loaded, modules of Node included, to a file of its own when it ends. */
const recorder = `
const { registerHooks } = require('node:module');
const { threadId } = require('node:worker_threads');
const { writeFileSync } = require('node:fs');
const loaded = [];
registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
process.on('exit', () => {
  writeFileSync(${JSON.stringify(`${folder}/thread-`)} + threadId, [...loaded, ...process.moduleLoadList].join('\\n'));
});`;

const orderFile = join(folder, 'order');

/** Writes in which order the control plane loads the query builder, and its worker reports that it listens. */
const orderRecorder = `
const { appendFileSync } = require('node:fs');
const { registerHooks } = require('node:module');
const { Worker } = require('node:worker_threads');
const record = (event) => appendFileSync(${JSON.stringify(orderFile)}, event + '\\n');
registerHooks({
  load: (url, context, next) => {
    if (url.includes('/node_modules/kysely/')) record('query builder loads');
    return next(url, context);
  },
});
const { emit } = Worker.prototype;
Worker.prototype.emit = function (event, value) {
  if (event === 'message' && value.type === 'ready') record('worker listens');
  return emit.call(this, event, value);
};`;

/** Parts that no entity and no setting of the node uses. */
const unused: readonly (readonly [what: string, modules: RegExp])[] = [
  ['undici', /undici/],
  ['handlers of plugins', /\/src\/plugins\/[^/]+\/handler\.ts$/],
  ['schemas of plugins', /\/src\/plugins\/[^/]+\/schema\.ts$/],
  ['pino', /node_modules\/pino\//],
  ['the validator of JSON schemas', /node_modules\/ajv\//],
  ['the client of PostgreSQL', /node_modules\/pg\//],
  ['the portal', /\/src\/control\/portal\//],
  ['the server of the dashboard', /\/src\/control\/dashboard\//],
  ['clients of Redis in the control plane', /\/src\/shared\/redis\//],
  ['the HTTP/2 engine in the control plane', /\/src\/shared\/http2\//],
  ['the languages of zod', /\/zod\/v4\/locales\/(?!en\.js)/],
];

/** Starts a node with the hook, and ends it. */
async function startAndStop(prefix: string, hook: string): Promise<void> {
  await using node = startGatewayProcess(prefix, { NODE_OPTIONS: `--require=${hook}` });
  await node.started();
  node.child.kill('SIGTERM');
  assert.equal(await node.exit, 0);
}

test('a node loads no part that its configuration does not use', async () => {
  const hook = join(folder, 'recorder.cjs');
  writeFileSync(hook, recorder);
  const prefix = join(folder, 'node');
  await startAndStop(prefix, hook);
  const modules = readFileSync(join(folder, 'thread-0'), 'utf8').split('\n');
  assert.ok(modules.some((name) => name.endsWith('/src/boot/listen-node.ts')));
  for (const [what, pattern] of unused) {
    assert.deepEqual(
      modules.filter((name) => pattern.test(name)),
      [],
      what,
    );
  }
});

test('a node loads the query builder of its store when its worker listens', async () => {
  const hook = join(folder, 'order-recorder.cjs');
  writeFileSync(hook, orderRecorder);
  const prefix = join(folder, 'stored');
  // The first start creates the store, with the query builder.
  await startAndStop(prefix, hook);
  rmSync(orderFile);
  await startAndStop(prefix, hook);
  const order = readFileSync(orderFile, 'utf8').trim().split('\n');
  assert.deepEqual([...new Set(order)], ['worker listens', 'query builder loads']);
});
