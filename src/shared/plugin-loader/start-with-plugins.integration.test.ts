import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startTestGateway } from '../../../test/support/gateway.ts';
import { untilPasses } from '../../../test/support/until.ts';
import { runCommand } from '../../cli/testing/run-command.ts';

const main = fileURLToPath(new URL('../../main.ts', import.meta.url));
let folder = '';

const plugin = (name: string, more = '') =>
  `import { definePlugin } from 'sluicegate/plugin-sdk';\nexport default definePlugin({ name: '${name}', ${more} setup: () => ({}) });\n`;

/** Plugins that a node must not start with, and what it says. */
const broken: Readonly<Record<string, readonly [plugins: string, error: RegExp]>> = {
  'a syntax error': ['./syntax.ts', /'\.\/syntax\.ts' cannot be loaded: .+ \(.*syntax\.ts:3:\d+\)/],
  'a missing import': [
    './missing',
    /'\.\/missing' cannot be loaded: Cannot find module .+ \(.*missing\/index\.ts:2:\d+\)/,
  ],
  'a missing package': ['./needs.ts', /'\.\/needs\.ts' cannot be loaded: Cannot find package 'not-there' .+needs\.ts/],
  'an exception while it loads': ['./throws.ts', /'\.\/throws\.ts' cannot be loaded: not today \(.*throws\.ts:2:7\)/],
  'no default export': ['./nothing.ts', /the default export of '\.\/nothing\.ts' is not created by definePlugin/],
  'a description that cannot work': [
    './wrong.ts',
    /plugin 'wrong': capabilities must be a list of network, store, files, env/,
  ],
  'two plugins of one name': ['./mine, ./twin.ts', /two plugins have the name 'mine'/],
  'the name of a bundled one': ['bundled, ./cors.ts', /two plugins have the name 'cors'/],
  'a package that is not installed': [
    '@acme/policy',
    /'@acme\/policy' cannot be loaded: the package is not installed; .*npm install @acme\/policy/,
  ],
  'a folder without a plugin': ['./empty', /'\.\/empty' cannot be loaded: the folder .+ has none of index\.ts/],
};

describe('a node', () => {
  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'sluicegate-plugins-')));
    const files: Readonly<Record<string, string>> = {
      'syntax.ts':
        "import { definePlugin } from 'sluicegate/plugin-sdk';\nexport default definePlugin({\n  name: 'a' 'b',\n});\n",
      'missing/index.ts':
        "import { definePlugin } from 'sluicegate/plugin-sdk';\nimport { a } from './none.ts';\nexport default a;\n",
      'needs.ts': "import a from 'not-there';\nexport default a;\n",
      'throws.ts': "const reason = 'not today';\nthrow new Error(reason);\n",
      'nothing.ts': 'export const a = 1;\n',
      'wrong.ts': plugin('wrong', "capabilities: ['disk'] as never,"),
      'mine/index.ts': plugin('mine', "version: '1.2.3', capabilities: ['network'],"),
      'twin.ts': plugin('mine'),
      'cors.ts': plugin('cors'),
      'empty/README.md': '',
      'files.ts': `import { readFileSync } from 'node:fs';\n${plugin('files', 'capabilities: [],')}export { readFileSync };\n`,
    };
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), text);
    }
  });
  after(() => rm(folder, { recursive: true, force: true }));

  for (const [what, [plugins, error]] of Object.entries(broken)) {
    test(`does not start with ${what}, and says so once`, async () => {
      const { status, stdout, stderr } = await start(plugins);
      assert.equal(status, 1, stderr);
      assert.equal(stdout, '');
      assert.match(stderr, error);
      assert.match(stderr, /^Error: (?:plugins: |plugin ')[^\n]+\n$/);
    });
  }

  test('loads a plugin that a settings file names relative to itself, and logs what it is', async () => {
    const conf = join(folder, 'node.conf');
    await writeFile(conf, 'plugins = ./mine, ./files.ts\n');
    const { code, errors } = await runCommand('/', 'check', conf);
    assert.equal(code, 0, errors);
    const elsewhere = await runCommand('/', 'check', conf, '--plugins', './mine');
    assert.notEqual(elsewhere.code, 0);
    assert.match(elsewhere.errors, /there is no file or folder \/mine/);
  });

  test('writes one line for each plugin of a user, and warns of what is used and not declared', async () => {
    const plugins = `cors, ${join(folder, 'mine')}, ${join(folder, 'files.ts')}`;
    await using gateway = await startTestGateway({ env: { KONG_PLUGINS: plugins, KONG_LOG_FORMAT: 'json' } });
    await untilPasses(async () => {
      const lines = (await readFile(gateway.settings.adminErrorLog, 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      const loaded = lines.filter(({ msg }) => msg === 'plugin loaded');
      assert.deepEqual(
        loaded.map(({ plugin: name, version, file, capabilities }) => [name, version, file, capabilities]),
        [
          ['mine', '1.2.3', join(folder, 'mine/index.ts'), 'network'],
          ['files', '0.1.0', join(folder, 'files.ts'), 'none'],
        ],
      );
      const warned = lines.filter(({ msg }) => String(msg).startsWith('the plugin uses'));
      assert.deepEqual(
        warned.map(({ msg }) => msg),
        ['the plugin uses node:fs but does not declare the capability files'],
      );
    });
  });

  test('starts with the pins that the command prints, and not with changed files', async () => {
    const printed = await runCommand(folder, 'plugin', 'integrity', './mine');
    assert.equal(printed.code, 0, printed.errors);
    assert.match(printed.output, /^\.\/mine=sha512-[A-Za-z0-9+/]{86}==$/);
    assert.match(printed.errors, /^1 file of .*\/mine$/);
    const check = (pin: string) => runCommand(folder, 'check', '--plugins', './mine', '--plugins-integrity', pin);
    assert.equal((await check(printed.output)).code, 0);
    const changed = printed.output.replace(/sha512-./, (text) => (text.endsWith('A') ? 'sha512-B' : 'sha512-A'));
    const refused = await start('./mine', { KONG_PLUGINS_INTEGRITY: changed });
    assert.equal(refused.status, 1);
    assert.match(
      refused.stderr,
      /^Error: plugins: '\.\/mine' is not what plugins_integrity pins: expected sha512-\S+, found sha512-\S+ in \S+\n$/,
    );
    assert.ok(refused.stderr.includes(printed.output.slice('./mine='.length)));
  });
});

/** Runs `sluicegate start` in the folder until it ends; a node that starts is ended. */
async function start(plugins: string, more: Readonly<Record<string, string>> = {}) {
  const anywhere = '127.0.0.1:0';
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, 'start'], {
    cwd: folder,
    timeout: 60_000,
    env: {
      KONG_PREFIX: join(folder, 'prefix'),
      KONG_PROXY_LISTEN: anywhere,
      KONG_ADMIN_LISTEN: anywhere,
      KONG_STATUS_LISTEN: 'off',
      KONG_ADMIN_GUI_LISTEN: 'off',
      KONG_NGINX_WORKER_PROCESSES: '2',
      KONG_PLUGINS: plugins,
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      ...more,
    },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const status = await new Promise((resolve) => child.once('close', resolve));
  return { status, stdout, stderr };
}
