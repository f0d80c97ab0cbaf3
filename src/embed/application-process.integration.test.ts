import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const conditions = ['--conditions=sluicegate-source', '--disable-warning=ExperimentalWarning'];
const limit = 60_000;

interface State {
  readonly listeners: Readonly<Record<string, number>>;
  readonly title: string;
  readonly resources: readonly string[];
}

interface Report {
  readonly before: State;
  readonly open: State;
  readonly after: State;
  /** After two gateways that could not start. */
  readonly failed: State;
  readonly answers: readonly { readonly status: number; readonly type: string | null; readonly size: number }[];
  readonly counts: { readonly workers: number; readonly hooks: number; readonly flags: number };
}

function emptyDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'embedded-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Runs a script of Node in an empty directory until it ends by itself. */
async function run(directory: string, ...script: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, [...conditions, ...script], {
    cwd: directory,
    env: { PATH: process.env['PATH'], TMPDIR: directory, KONG_LOG_LEVEL: 'nonsense' },
    timeout: limit,
  });
}

test('an application starts no threads, changes nothing of its process, writes no file, and ends by itself', async (t) => {
  const directory = emptyDirectory(t);
  const fixture = fileURLToPath(new URL('./process-of-an-application.fixture.ts', import.meta.url));
  const { stdout, stderr } = await run(directory, fixture);
  const { before, open, after, failed, answers, counts } = JSON.parse(stdout) as Report;
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 401, 200, 200],
  );
  assert.match(answers[3]?.type ?? '', /json/);
  // One for the path of a plugin, at the end.
  assert.deepEqual(counts, { workers: 0, hooks: 1, flags: 0 });
  for (const state of [open, after, failed]) {
    assert.deepEqual(state.listeners, before.listeners);
    assert.equal(state.title, before.title);
  }
  for (const { resources } of [after, failed]) assert.deepEqual(resources, before.resources);
  assert.deepEqual(readdirSync(directory), []);
  assert.doesNotMatch(stderr, /[Ww]arning|error/);
});

test('the import of the package loads nothing of the gateway', async (t) => {
  const index = new URL('./index.ts', import.meta.url).href;
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
    await import(${JSON.stringify(index)});
    console.log(JSON.stringify(loaded.filter((url) => url.startsWith('file:'))));`;
  const { stdout } = await run(emptyDirectory(t), '--input-type=module', '--eval', script);
  const names = (JSON.parse(stdout) as readonly string[]).map((url) => url.replace(/^.*\/src\//, '')).sort();
  assert.deepEqual(names, [
    'embed/config-error.ts',
    'embed/create-gateway.ts',
    'embed/index.ts',
    'shared/gateway-config/gateway-config.ts',
    'shared/gateway-config/plugin-instances.ts',
  ]);
});

test('a process that only creates a gateway ends by itself', async (t) => {
  const index = new URL('./index.ts', import.meta.url).href;
  const script = `const { createGateway } = await import(${JSON.stringify(index)});
    await createGateway(); console.log('created');`;
  const { stdout } = await run(emptyDirectory(t), '--input-type=module', '--eval', script);
  assert.equal(stdout, 'created\n');
});
