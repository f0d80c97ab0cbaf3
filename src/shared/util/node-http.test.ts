import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

const src = join(import.meta.dirname, '../..');
const isTest = /\.(?:test|fixture|contract)\.ts$|\/testing\//;

test('no module imports node:http for values: that would load undici', () => {
  const users = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !isTest.test(name) && !name.startsWith('cli/'))
    .filter((name) => /^import (?!type ).* from 'node:http';$/m.test(readFileSync(join(src, name), 'utf8')));
  assert.deepEqual(users, []);
});

test('nodeHttp does not load undici', async () => {
  const module = new URL('./node-http.ts', import.meta.url).href;
  const code = `import(${JSON.stringify(module)}).then(({ nodeHttp }) => {
    const { parentPort } = require('node:worker_threads');
    parentPort.postMessage([typeof nodeHttp.createServer, process.moduleLoadList.filter((name) => name.includes('undici'))]);
  });`;
  const worker = new Worker(code, { eval: true });
  const loaded = await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  assert.deepEqual(loaded, ['function', []]);
});
