import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startBackend } from '../../test/support/backend.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'examples/embed');
const flags = ['--disable-warning=ExperimentalWarning', '--conditions=sluicegate-source'];

test('the pages show the examples as they are', () => {
  const shown = new Set<string>();
  for (const page of ['embedding.md', 'config-typescript.md']) {
    const text = readFileSync(join(root, 'docs', page), 'utf8');
    for (const [, name = '', code] of text.matchAll(/```ts\n\/\/ examples\/embed\/(\S+)\n(.*?)```/gs)) {
      assert.equal(code, readFileSync(join(folder, name), 'utf8'), `${page} shows ${name}`);
      shown.add(name);
    }
  }
  assert.deepEqual([...shown].sort(), readdirSync(folder).sort());
});

/** Runs an example until it has printed a line. */
async function run(t: TestContext, name: string, backend: string): Promise<{ child: ChildProcess; line: string }> {
  const child = spawn(process.execPath, [...flags, join(folder, name)], {
    env: { PATH: process.env['PATH'], BACKEND: backend, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const [data] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return { child, line: String(data).trim() };
}

/** It ends by itself. */
async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  assert.deepEqual(await exited, [0, null]);
}

const servers: Readonly<
  Record<string, { readonly headers?: Record<string, string>; readonly check?: (answer: Response) => void }>
> = {
  'listen.ts': { check: ({ headers }) => assert.equal(headers.get('x-ratelimit-limit-minute'), '120') },
  'node-http.ts': {},
  'fastify.ts': { headers: { apikey: 'key-of-ada' } },
  'own-plugin.ts': { check: ({ headers }) => assert.match(headers.get('x-greeting') ?? '', /^Good day, \d+$/) },
};

for (const [name, { headers = {}, check = () => {} }] of Object.entries(servers)) {
  test(`${name} carries requests, and ends with SIGTERM`, async (t) => {
    await using backend = await startBackend();
    const { child, line } = await run(t, name, backend.url);
    const url = line.split('\n').at(-1) ?? '';
    const answer = await fetch(url, {
      method: 'POST',
      body: 'x'.repeat(100_000),
      headers: { ...headers, connection: 'close' },
    });
    assert.equal(answer.status, 200);
    assert.equal(((await answer.json()) as { body: string }).body.length, 100_000);
    check(answer);
    const health = await fetch(new URL('/health', url), { headers: { connection: 'close' } });
    assert.equal(health.status, name === 'node-http.ts' || name === 'fastify.ts' ? 200 : 404);
    await health.text();
    await end(child);
  });
}

test('fetch.ts prints the answer, and ends', async (t) => {
  await using backend = await startBackend();
  const { child, line } = await run(t, 'fetch.ts', backend.url);
  const exited = once(child, 'exit');
  assert.match(line, /^200 .*"body":"one"/);
  assert.match(line, /"x-forwarded-for":"192\.0\.2\.7"/);
  assert.deepEqual(child.exitCode === null ? await exited : [0, null], [0, null]);
});

test('sluicegate.config.ts is a valid config', async () => {
  const child = spawn(
    process.execPath,
    [...flags, join(root, 'src/main.ts'), 'config', 'check', 'sluicegate.config.ts'],
    {
      cwd: folder,
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [data] = (await once(child.stdout, 'data')) as [Buffer];
  assert.equal(String(data), 'the document is valid (7 entities)\n');
});
