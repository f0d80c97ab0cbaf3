import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts';
import { until } from '../support/until.ts';

let backend: TestBackend;
let folder = '';
let count = 0;

before(async () => {
  backend = await startBackend();
  folder = await mkdtemp(join(tmpdir(), 'sluicegate-declared-'));
});
after(async () => {
  await backend.close();
  await rm(folder, { recursive: true, force: true });
});

function document(path: string, more: readonly string[] = []): string {
  return [
    '_format_version: "3.0"',
    'services:',
    '- name: s',
    `  url: ${backend.url}`,
    '  routes:',
    '  - name: r',
    `    paths: ["${path}"]`,
    ...more,
    '',
  ].join('\n');
}

async function emptyFolder(): Promise<string> {
  const path = join(folder, String(++count));
  await mkdir(path);
  return path;
}

function start(prefix: string, env: Readonly<Record<string, string>>): GatewayProcess {
  return startGatewayProcess(prefix, { KONG_DATABASE: 'off', ...env });
}

async function statusOf(node: GatewayProcess, path: string): Promise<number> {
  const response = await fetch(node.url('proxy') + path);
  await response.arrayBuffer();
  return response.status;
}

const serves = (node: GatewayProcess, path: string): Promise<number> =>
  until(async () => (await statusOf(node, path)) === 200, 20_000);

test('a file is loaded at the start, and again on SIGHUP', async () => {
  const prefix = await emptyFolder();
  const file = join(prefix, 'kong.yml');
  await writeFile(file, document('/one'));
  await using node = start(prefix, { KONG_DECLARATIVE_CONFIG: file });
  await node.started();
  assert.match(node.output(), /"created":2.*loaded the declarative config/);
  assert.equal(await statusOf(node, '/one'), 200);
  await writeFile(file, document('/two'));
  node.child.kill('SIGHUP');
  await serves(node, '/two');
  assert.equal(await statusOf(node, '/one'), 404);
});

test('sluicegate reload reads the file again', async () => {
  const prefix = await emptyFolder();
  const file = join(prefix, 'kong.yml');
  await writeFile(file, document('/one'));
  await using node = start(prefix, { KONG_DECLARATIVE_CONFIG: file });
  await node.started();
  await writeFile(file, document('/two'));
  const { run } = await import('../../src/cli/run.ts');
  const lines: string[] = [];
  const code = await run(['reload', '-p', prefix], {
    out: (line: string) => void lines.push(line),
    err: (line: string) => void lines.push(line),
    env: {},
  });
  assert.deepEqual([code, lines], [0, ['Sluicegate reloaded']]);
  await serves(node, '/two');
});

test('a bad file keeps the config on reload, and the log says line, path and reason', async () => {
  const prefix = await emptyFolder();
  const file = join(prefix, 'kong.yml');
  await writeFile(file, document('/one'));
  await using node = start(prefix, { KONG_DECLARATIVE_CONFIG: file });
  await node.started();
  await writeFile(file, document('/two', ['foo: []']));
  node.child.kill('SIGHUP');
  await node.printed('the config stays as it was');
  assert.ok(node.output().includes(`error parsing declarative config file ${file}: line 8: foo: unknown field`));
  await writeFile(file, 'services:\n- name: [\n');
  node.child.kill('SIGHUP');
  await node.printed(/line 3, column \d+: /);
  await rm(file);
  node.child.kill('SIGHUP');
  await node.printed(`error parsing declarative config file ${file}: no such file`);
  assert.equal(await statusOf(node, '/one'), 200);
  assert.equal(await statusOf(node, '/two'), 404);
});

test('an invalid entity is logged at the start with its line and path, and the rest is served', async () => {
  const prefix = await emptyFolder();
  const file = join(prefix, 'kong.yml');
  await writeFile(file, document('/one', ['- name: bad', '  host: a', '  port: 99999']));
  await using node = start(prefix, { KONG_DECLARATIVE_CONFIG: file });
  await node.started();
  assert.equal(await statusOf(node, '/one'), 200);
  const line = node
    .output()
    .split('\n')
    .find((text) => text.includes('is invalid'));
  const { msg, source, entity, name, problems } = JSON.parse(line ?? '{}');
  assert.deepEqual(
    { msg, source, entity, name, problems },
    {
      msg: 'an entity of the declarative config is invalid; the valid ones are used',
      source: file,
      entity: 'services',
      name: 'bad',
      problems: ['line 10: services[1].port: value should be between 0 and 65535'],
    },
  );
});

for (const [what, text, reason] of [
  ['has a syntax error', 'services:\n- name: [\n', /line 3, column \d+: /],
  ['is empty', '', /expected a declarative configuration/],
  ['has no version', 'services: []\n', /_format_version: required field missing/],
  ['has an unknown key', '_format_version: "3.0"\nfoo: []\n', /line 2: foo: unknown field/],
] as const) {
  test(`a node does not start with a file that ${what}`, async () => {
    const prefix = await emptyFolder();
    const file = join(prefix, 'kong.yml');
    await writeFile(file, text);
    await using node = start(prefix, { KONG_DECLARATIVE_CONFIG: file });
    assert.equal(await node.exit, 1);
    assert.ok(node.output().includes(`error parsing declarative config file ${file}: `), node.output());
    assert.match(node.output(), reason);
  });
}

test('a node does not start with a file that does not exist', async () => {
  const prefix = await emptyFolder();
  await using node = start(prefix, { KONG_DECLARATIVE_CONFIG: join(prefix, 'none.yml') });
  assert.equal(await node.exit, 1);
  assert.match(node.output(), /error parsing declarative config file \S+none\.yml: no such file/);
});

test('declarative_config_string is loaded at each start, instead of what was loaded last, and is never shown', async () => {
  const prefix = await emptyFolder();
  const env = {
    KONG_DECLARATIVE_CONFIG_STRING: document('/string', [
      'consumers:',
      '- username: c',
      '  keyauth_credentials: [{key: top-secret}]',
    ]),
  };
  {
    await using node = start(prefix, env);
    await node.started();
    assert.equal(await statusOf(node, '/string'), 200);
    const shown = await (await fetch(`${node.url('admin')}/`)).text();
    assert.ok(!shown.includes('top-secret') && !node.output().includes('top-secret'));
    const loaded = await fetch(`${node.url('admin')}/config`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/yaml' },
      body: document('/pushed'),
    });
    assert.equal(loaded.status, 201);
    assert.equal(await statusOf(node, '/pushed'), 200);
    node.child.kill('SIGTERM');
    assert.equal(await node.exit, 0);
  }
  {
    await using node = start(prefix, env);
    await node.started();
    assert.equal(await statusOf(node, '/string'), 200);
    assert.equal(await statusOf(node, '/pushed'), 404);
    node.child.kill('SIGTERM');
    await node.exit;
  }
});

test('a watched file is loaded when it changes, however it is replaced', async () => {
  const prefix = await emptyFolder();
  const file = join(prefix, 'kong.yml');
  await writeFile(file, document('/one'));
  await using node = start(prefix, { KONG_DECLARATIVE_CONFIG: file, SLUICEGATE_DECLARATIVE_CONFIG_WATCH: 'on' });
  await node.started();
  await writeFile(file, document('/two'));
  await serves(node, '/two');
  await writeFile(`${file}.new`, document('/six'));
  await rename(`${file}.new`, file);
  await serves(node, '/six');
  await writeFile(file, document('/ten', ['foo: []']));
  await node.printed('the config stays as it was');
  assert.equal(await statusOf(node, '/six'), 200);
  await rm(file);
  await writeFile(file, document('/ten'));
  await serves(node, '/ten');
});

test('a watched file is loaded when its folder is replaced, as Kubernetes does with a ConfigMap', async () => {
  const prefix = await emptyFolder();
  const mount = await emptyFolder();
  const version = async (name: string, path: string): Promise<void> => {
    await mkdir(join(mount, name));
    await writeFile(join(mount, name, 'kong.yml'), document(path));
    await symlink(name, join(mount, `${name}.link`));
    await rename(join(mount, `${name}.link`), join(mount, '..data'));
  };
  await version('..v1', '/one');
  await symlink('..data/kong.yml', join(mount, 'kong.yml'));
  await using node = start(prefix, {
    KONG_DECLARATIVE_CONFIG: join(mount, 'kong.yml'),
    SLUICEGATE_DECLARATIVE_CONFIG_WATCH: 'on',
  });
  await node.started();
  assert.equal(await statusOf(node, '/one'), 200);
  await version('..v2', '/two');
  await rm(join(mount, '..v1'), { recursive: true });
  await serves(node, '/two');
});
