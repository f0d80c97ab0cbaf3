import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { until } from '../../../test/support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'cli-config-'));
const main = fileURLToPath(new URL('../../main.ts', import.meta.url));
const token = 'admin-secret-0123456789';
let gateway: TestGateway;
let files = '';
let runs = 0;

before(async () => {
  gateway = await startTestGateway({ settings: { adminToken: token } });
});
beforeEach(() => {
  runs++;
  files = join(folder, String(runs));
  mkdirSync(files);
});
after(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const cache = { NODE_COMPILE_CACHE: join(import.meta.dirname, '../../../.runtime/compile-cache') };
const flags = ['--disable-warning=ExperimentalWarning', '--conditions=sluicegate-source', main, 'config'];

function cli(words: readonly string[], input = '', env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [...flags, ...words],
      { cwd: files, env: { ...cache, ...env } },
      (error, out, err) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err });
      },
    );
    child.stdin?.end(input);
  });
}

const onNode = (words: readonly string[], input = ''): Promise<Ended> =>
  cli([...words, '--admin', gateway.adminUrl], input, { SLUICEGATE_ADMIN_TOKEN: token });

const write = (name: string, text: string): void => writeFileSync(join(files, name), text);

const withServices = (...names: readonly string[]): string =>
  ['_format_version: "3.0"', 'services:', ...names.flatMap((name) => [`- name: ${name}`, `  host: ${name}.test`])].join(
    '\n',
  );

test('compares and applies files, shows what changes, and goes back', async () => {
  write('kong.yaml', withServices('a', 'b'));
  const before = await onNode(['diff', 'kong.yaml']);
  assert.deepEqual([before.code, before.err], [2, '']);
  assert.match(
    before.out,
    /^create services a\ncreate services b\n2 to create, 0 to update, 0 to delete, 0 unchanged\n$/,
  );
  const applied = await onNode(['apply', 'kong.yaml']);
  assert.equal(applied.code, 0, applied.err);
  assert.match(applied.out, /2 created, 0 updated, 0 deleted, 0 unchanged\nversion \d+\n$/);
  const same = await onNode(['diff', 'kong.yaml']);
  assert.deepEqual([same.code, same.out], [0, '0 to create, 0 to update, 0 to delete, 2 unchanged\n']);

  write('kong.yaml', `${withServices('a')}\n  port: 81\n`);
  const next = await onNode(['apply', '-'], readFileSync(join(files, 'kong.yaml'), 'utf8'));
  assert.match(next.out, /^update services a\n {4}port: 80 -> 81\ndelete services b\n/);
  const history = await onNode(['history', '--limit', '2']);
  const [newest, older] = history.out.trim().split('\n');
  assert.match(newest ?? '', /^ *\d+ {2}\S+Z {2}apply {5}admin-token {2}\+0 ~1 -1 {2}\(replace\)$/);
  const version = older?.trim().split(' ')[0] ?? '';
  const back = await onNode(['rollback', version]);
  assert.match(back.out, /^1 created, 1 updated, 0 deleted\nversion \d+\n$/);
  const restored = await onNode(['diff', '-', '--json'], withServices('a', 'b'));
  assert.deepEqual([restored.code, JSON.parse(restored.out).unchanged], [0, 2]);
  const unknown = await onNode(['rollback', '99999999']);
  assert.deepEqual([unknown.code, unknown.err], [1, 'Error: version 99999999 of the config is not kept\n']);
});

test('joins the files of a folder, and names file and line of each problem', async () => {
  mkdirSync(join(files, 'config/team'), { recursive: true });
  write('config/a.yaml', withServices('a'));
  write('config/team/b.yaml', withServices('b', 'c'));
  write('config/notes.txt', 'not config');
  const applied = await onNode(['apply', 'config']);
  assert.equal(applied.code, 0, applied.err);
  const diff = await onNode(['diff', 'config/a.yaml', 'config/team']);
  assert.match(diff.out, /3 unchanged/);
  write('config/team/b.yaml', `${withServices('b', 'c')}\n  port: 70000\n`);
  for (const command of ['diff', 'apply']) {
    const refused = await onNode([command, 'config']);
    assert.equal(refused.code, 1);
    assert.equal(
      refused.err,
      'config/team/b.yaml:7: services[2].port: value should be between 0 and 65535\n' +
        'Error: the document is not valid; nothing was changed\n',
    );
  }
  write('config/team/b.yaml', 'services: [');
  const broken = await onNode(['apply', 'config']);
  assert.match(broken.err, /^Error: config\/team\/b\.yaml:\d+:\d+: /);
  write('config/team/b.yaml', '_format_version: "1.1"');
  assert.match((await onNode(['apply', 'config'])).err, /_format_version differs from that in config\/a\.yaml/);
});

test('exports what it applied, readable only by its user', async () => {
  write('kong.yaml', withServices('a', 'b'));
  await onNode(['apply', 'kong.yaml']);
  for (const words of [[], ['--style', 'deck'], ['--format', 'json']]) {
    const exported = await onNode(['export', ...words]);
    assert.equal(exported.code, 0, exported.err);
    assert.equal((await onNode(['diff', '-'], exported.out)).code, 0);
  }
  const dumped = await onNode(['db_export', 'dump.yml']);
  assert.equal(dumped.code, 0, dumped.err);
  assert.equal(statSync(join(files, 'dump.yml')).mode & 0o777, 0o600);
  assert.equal((await onNode(['diff', 'dump.yml'])).code, 0);
  assert.deepEqual((await onNode(['db_export', 'dump.yml'])).err, 'Error: dump.yml exists\n');
  assert.match((await onNode(['export', '--style', 'xml'])).err, /--style must be kong or deck/);
});

test('adds without deleting, and limits itself to tags', async () => {
  write('kong.yaml', withServices('a'));
  await onNode(['apply', 'kong.yaml']);
  const imported = await onNode(['import', '-'], withServices('b'));
  assert.match(imported.out, /1 created, 0 updated, 0 deleted, 1 unchanged/);
  const tagged = await onNode(['apply', '-', '--select-tag', 'x', '--select-tag', 'y'], withServices('c'));
  assert.match(tagged.out, /1 created, 0 updated, 0 deleted/);
  const removed = await onNode(['apply', '-', '--select-tag', 'x'], '_format_version: "3.0"');
  assert.match(removed.out, /^delete services c\n/);
});

test('applies again when a file changes; a bad file leaves the config as it was', async () => {
  write('kong.yaml', withServices('watched'));
  const words = [...flags, 'apply', 'kong.yaml', '--watch', '--admin', gateway.adminUrl];
  const child = spawn(process.execPath, words, { cwd: files, env: { ...cache, SLUICEGATE_ADMIN_TOKEN: token } });
  try {
    const seen = collect(child);
    await until(() => seen.out.includes('version '));
    write('kong.yaml', 'services: [');
    await until(() => seen.err.includes('the config stays as it was'));
    assert.match(seen.err, /^Error: kong\.yaml:1:\d+: /);
    assert.deepEqual(await serviceNames(), ['watched']);
    write('kong.yaml', withServices('changed'));
    await until(() => seen.out.includes('create services changed'));
    await until(() => seen.out.split('version ').length === 3);
    assert.deepEqual(await serviceNames(), ['changed']);
  } finally {
    child.kill();
  }
});

function collect(child: ChildProcess): { out: string; err: string } {
  const seen = { out: '', err: '' };
  child.stdout?.on('data', (bytes) => {
    seen.out += bytes;
  });
  child.stderr?.on('data', (bytes) => {
    seen.err += bytes;
  });
  return seen;
}

async function serviceNames(): Promise<readonly string[]> {
  const response = await fetch(`${gateway.adminUrl}/services`, { headers: { Authorization: `Bearer ${token}` } });
  const { data } = (await response.json()) as { data: readonly { name: string }[] };
  return data.map(({ name }) => name);
}

test('asks for a token, which may be in a file', async () => {
  write('token', `${token}\n`);
  const refused = await cli(['history', '--admin', gateway.adminUrl]);
  assert.match(refused.err, /^Error: the Admin API requires a token/);
  const accepted = await cli(['history', '--admin', gateway.adminUrl, '--token-file', 'token']);
  assert.equal(accepted.code, 0, accepted.err);
});

test('works on the store when no node runs', async () => {
  write('kong.yaml', withServices('stored'));
  const prefix = ['--prefix', join(files, 'node')];
  const imported = await cli(['db_import', 'kong.yaml', ...prefix]);
  assert.deepEqual(
    [imported.code, imported.out],
    [0, 'parse successful, beginning import\nimport successful\n'],
    imported.err,
  );
  assert.equal((await cli(['diff', 'kong.yaml', ...prefix])).code, 0);
  const history = await cli(['history', '--json', ...prefix]);
  const [newest, start] = JSON.parse(history.out) as readonly Record<string, unknown>[];
  assert.deepEqual([newest?.['actor'], newest?.['action'], newest?.['created']], ['command-line', 'apply', 1]);
  const back = await cli(['rollback', String(start?.['version']), ...prefix]);
  assert.match(back.out, /0 created, 0 updated, 1 deleted/);
});

test("Kong's names have Kong's texts", async () => {
  write('bad.yaml', '_format_version: "3.0"\nservices:\n- name: a\n');
  const parsed = await cli(['parse', 'bad.yaml']);
  assert.deepEqual(
    [parsed.code, parsed.err],
    [
      1,
      "Error: Failed parsing:\n  in 'services':\n    - in entry 1 of 'services':\n      in 'host': required field missing\n",
    ],
  );
  assert.equal((await cli(['init'])).code, 0);
  assert.deepEqual(await cli(['parse', 'kong.yml']), { code: 0, out: 'parse successful\n', err: '' });
  assert.deepEqual(await cli(['check', 'kong.yml']), { code: 0, out: 'the document is valid (0 entities)\n', err: '' });
  const again = await cli(['init']);
  assert.deepEqual([again.code, again.err], [1, 'Error: kong.yml exists\n']);
  const checked = await cli(['check', 'bad.yaml']);
  assert.match(
    checked.err,
    /^bad\.yaml:3: services\[0\]\.host: required field missing\nError: the document is not valid/,
  );
  assert.match((await cli(['parze'])).err, /No such command: config parze \(did you mean parse\?\)/);
});

test('a config in TypeScript is checked, compared and applied like a document', async () => {
  write(
    'sluicegate.config.ts',
    `import { defineConfig } from 'sluicegate';
     const names: string[] = (process.env.NAMES ?? 'typed').split(',');
     export default defineConfig(() => ({ services: names.map((name) => ({ name, host: name + '.test' })) }));`,
  );
  const checked = await cli(['check', 'sluicegate.config.ts'], '', { NAMES: 'a,b,c' });
  assert.deepEqual([checked.code, checked.out], [0, 'the document is valid (3 entities)\n']);
  const applied = await onNode(['apply', 'sluicegate.config.ts']);
  assert.equal(applied.code, 0, applied.err);
  assert.match(applied.out, /create services typed\n/);
  const same = await onNode(['diff', './sluicegate.config.ts']);
  assert.deepEqual([same.code, same.out], [0, '0 to create, 0 to update, 0 to delete, 1 unchanged\n']);

  write('wrong.config.ts', `export default { services: [{ name: 'x', host: 'x.test', ports: 1 }] };`);
  const invalid = await cli(['check', 'wrong.config.ts']);
  assert.equal(invalid.code, 1);
  assert.match(invalid.err, /^wrong\.config\.ts: services\[0\]\.ports: unknown field$/m);
  write('broken.config.ts', `\nthrow new Error('no NAMES');\n`);
  const broken = await cli(['apply', 'broken.config.ts']);
  assert.equal(broken.code, 1);
  assert.match(broken.err, /broken\.config\.ts: no NAMES \(.*broken\.config\.ts:2:7\)/);
  const missing = await cli(['check', 'missing.config.ts']);
  assert.match(missing.err, /missing\.config\.ts: no such file/);
});
