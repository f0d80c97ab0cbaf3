import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type ExampleBackend, startJsonBackend } from '../../examples/backends/json-backend.ts';
import { skipWithoutRedis, startRedis, type TestRedis } from '../support/redis.ts';
import { installPackage, type PackedPackage, packPackage, shell, typeErrors, writeJson } from './installed-package.ts';

const run = promisify(execFile);

const examples = join(import.meta.dirname, '../../examples/plugins');
/** The plugins of the folder of examples, as a reader copies them. */
const copied = ['hello', 'visits'];
const plugins = ['bundled', './plugins/greet.ts', ...copied.map((name) => `./plugins/${name}/index.ts`)].join();

const plugin = `
import { definePlugin, httpProtocols, type AccessContext } from 'sluicegate/plugin-sdk';
import { offThread } from 'sluicegate/plugin-kit/runtime';
import { config } from './schema.ts';

const double = offThread<[number], number>(new URL('./double.ts', import.meta.url), 'double');

export default definePlugin({
  name: 'greet',
  version: '1.0.0',
  priority: 500,
  protocols: httpProtocols,
  schema: async () => ({ config }),
  setup: ({ greeting }: { readonly greeting: string }) => ({
    async access(context: AccessContext): Promise<undefined> {
      context.upstream.setHeader('X-Greeting', greeting + ' ' + (await double(21)));
    },
  }),
});
`;

const schema = `
import { record, string } from 'sluicegate/plugin-sdk/schema';
export const config = record({ greeting: string({ required: true, default: 'Hello', description: 'What to say.' }) });
`;

const double = `
import { parseRate } from 'sluicegate/plugin-kit/limits';
export function double(value: number): number {
  return typeof parseRate === 'function' ? value * 2 : value;
}
`;

const pluginTest = `
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from 'sluicegate/plugin-testing';
import { parseXml, xmlText } from 'sluicegate/plugin-kit/xml';
import greet from './greet.ts';

test('the backend gets a greeting', async () => {
  const { upstream } = await testPlugin(greet, { config: { greeting: 'Hi' } }).request({ path: '/' });
  assert.equal(upstream?.header('x-greeting'), 'Hi 42');
  assert.match(xmlText(parseXml(Buffer.from('<a/>'), { contentType: 'application/xml' })).toString(), /<a/);
});
`;

const misuse = `
import type { AccessContext } from 'sluicegate/plugin-sdk';
export function wrong(context: AccessContext): void {
  context.upstream.setHeader('X-Number', 1);
}
`;

async function ownRedis(): Promise<TestRedis & AsyncDisposable> {
  const redis = await startRedis();
  return { ...redis, [Symbol.asyncDispose]: () => redis.stop() };
}

describe('the package, packed and installed in an empty folder', () => {
  let home = '';
  let app = '';
  let packed: PackedPackage;
  let backend: ExampleBackend;
  let gateway: { readonly child: ChildProcess; readonly proxy: string; readonly admin: string } | null = null;
  let lines: string[] = [];

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'sluicegate-package-'));
    app = join(home, 'app');
    backend = await startJsonBackend('echo', 0, ({ body }) => ({ status: 200, body: { received: body ?? null } }));
    packed = await packPackage();
    await installPackage(packed.path, app);
    await mkdir(join(app, 'plugins'));
    await writeFile(join(app, 'plugins/greet.ts'), plugin);
    await writeFile(join(app, 'plugins/schema.ts'), schema);
    await writeFile(join(app, 'plugins/double.ts'), double);
    await writeFile(join(app, 'plugins/greet.test.ts'), pluginTest);
    for (const name of copied) await cp(join(examples, name), join(app, 'plugins', name), { recursive: true });
    await writeJson(join(app, 'package.json'), { ...(await manifest()), type: 'module' });
  });
  after(async () => {
    await stop();
    await backend.close();
    await rm(home, { recursive: true, force: true });
  });

  async function manifest(): Promise<object> {
    return JSON.parse(await readFile(join(app, 'package.json'), 'utf8'));
  }

  async function start(plugins: string): Promise<NonNullable<typeof gateway>> {
    const anywhere = '127.0.0.1:0';
    const child = spawn('npx', ['--no-install', 'sluicegate', 'start'], {
      cwd: app,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...shell,
        KONG_PROXY_LISTEN: anywhere,
        KONG_ADMIN_LISTEN: anywhere,
        KONG_STATUS_LISTEN: 'off',
        KONG_ADMIN_GUI_LISTEN: 'off',
        KONG_NGINX_WORKER_PROCESSES: '1',
        KONG_PLUGINS: plugins,
      },
      // npx is the parent of the gateway: the signal goes to their process group.
      detached: true,
    });
    lines = [];
    createInterface({ input: child.stderr }).on('line', (line) => lines.push(line));
    const urls: Record<string, string> = {};
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line);
      const [, name = '', url = ''] = /^\s+(proxy|admin)\s+(http:\S+)/.exec(line) ?? [];
      urls[name] = url;
      if (line.startsWith('Try:')) break;
    }
    child.stdout.resume();
    const { proxy, admin } = urls;
    if (proxy === undefined || admin === undefined) throw new Error(`it did not start: ${lines.join('\n')}`);
    gateway = { child, proxy, admin };
    return gateway;
  }

  async function stop(): Promise<void> {
    if (gateway === null) return;
    const { child } = gateway;
    gateway = null;
    // npx ends first; the output closes when the gateway has also ended.
    const left = once(child, 'close');
    child.stderr?.resume();
    process.kill(-(child.pid ?? 0), 'SIGTERM');
    await left;
  }

  async function post(path: string, body: unknown): Promise<void> {
    const response = await fetch(`${gateway?.admin}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    assert.equal(response.status, 201, await response.text());
  }

  it('contains the compiled program, and no tests, fixtures, benchmarks or TypeScript', () => {
    const all = packed.files.map(({ path }) => path);
    const creator = 'packages/create-sluicegate-plugin';
    assert.deepEqual(all.filter((path) => path.startsWith('packages/')).sort(), [
      `${creator}/create-plugin.js`,
      ...['README.md', 'gitignore', 'index.test.ts', 'index.ts', 'package.template.json', 'tsconfig.json'].map(
        (name) => `${creator}/template/${name}`,
      ),
    ]);
    const paths = all.filter((path) => !path.startsWith('packages/'));
    assert.deepEqual(
      paths.filter((path) => /test\.|fixture|benchmark|(?<!\.d)\.ts$|\.tgz$/.test(path)),
      [],
    );
    const elsewhere = paths.filter((path) => !/^(?:bin|dist|dashboard\/dist)\//.test(path));
    assert.deepEqual(elsewhere.sort(), ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']);
    assert.ok(paths.includes('dist/plugins/xml-json/convert-shared.js'), 'modules of threads are there');
    for (const path of ['dashboard/dist/files.json', 'dashboard/dist/index.html', 'dist/plugins/cors/README.md'])
      assert.ok(paths.includes(path), path);
    const dashboard = packed.files.filter(({ path }) => path.startsWith('dashboard/'));
    const shown = dashboard.reduce((sum, { size }) => sum + size, 0);
    assert.ok(packed.unpackedSize - shown < 7_000_000, `${packed.unpackedSize} with ${shown} of the dashboard`);
    // Each file of the dashboard is there three times: as it is, and in two compressed forms.
    assert.ok(shown < 2_000_000 && packed.size < 2_950_000, `${shown} / ${packed.size}`);
  });

  it('starts with npx, with every bundled plugin, its threads and a plugin in TypeScript', {
    timeout: 60_000,
  }, async () => {
    const { proxy } = await start(plugins);
    await post('/services', { name: 'echo', url: backend.url });
    await post('/services/echo/routes', { name: 'echo', paths: ['/echo'] });
    await post('/services/echo/plugins', { name: 'greet' });
    await post('/services/echo/plugins', { name: 'basic-auth' });
    await post('/services/echo/plugins', { name: 'request-transformer', config: { add: { body: ['added:yes'] } } });
    await post('/consumers', { username: 'ada' });
    await post('/consumers/ada/basic-auth', { username: 'ada', password: 'lovelace' });
    const response = await fetch(`${proxy}/echo`, {
      method: 'POST',
      headers: {
        Authorization: `Basic ${Buffer.from('ada:lovelace').toString('base64')}`,
        'Content-Type': 'application/json',
      },
      // Large enough to be transformed in another thread.
      body: JSON.stringify({ text: 'x'.repeat(200_000) }),
    });
    const answer = await response.text();
    assert.equal(response.status, 200, answer);
    assert.equal(JSON.parse(answer).received.added, 'yes');
    assert.deepEqual(
      lines.filter((line) => /warn|error/i.test(line)),
      [],
      'nothing to complain about',
    );
  });

  it('runs a copy of the examples, with their templates, Redis, metrics and spans', {
    skip: skipWithoutRedis(),
    timeout: 60_000,
  }, async () => {
    await using redis = await ownRedis();
    const { proxy, admin } = gateway ?? (await start(plugins));
    await post('/services', { name: 'visited', url: backend.url });
    await post('/services/visited/routes', { name: 'visited', paths: ['/visited'] });
    await post('/services/visited/plugins', { name: 'hello' });
    const config = { redis: { host: redis.host, port: redis.port }, message: 'visit $(shared.visits)', trace_rate: 1 };
    await post('/services/visited/plugins', { name: 'visits', config });
    await post('/plugins', { name: 'prometheus' });
    for (const visit of [1, 2]) {
      const response = await fetch(`${proxy}/visited?name=Ada`);
      assert.equal(response.status, 200, await response.text());
      assert.equal(response.headers.get('x-hello'), 'Hello, Ada!');
      assert.equal(response.headers.get('x-visits'), `visit ${visit}`);
    }
    const metrics = await (await fetch(`${admin}/metrics`)).text();
    assert.match(metrics, /^visits_total\{route="visited"\} 2$/m);
    assert.match(metrics, /^visits_redis_ms_count\{route="visited"\} [12]$/m);
  });

  it('has the other commands, which find the node', async () => {
    if (gateway === null) await start(plugins);
    const options = { cwd: app, env: shell, timeout: 30_000 };
    const version = await run('npx', ['--no-install', 'sluicegate', 'version'], options);
    assert.match(version.stdout, /^\d+\.\d+\.\d+$/m);
    const explained = await run('npx', ['--no-install', 'sluicegate', 'explain', 'GET', '/nowhere'], options).catch(
      (error: { readonly stdout: string; readonly stderr: string }) => error,
    );
    assert.match(explained.stdout, /404/, explained.stderr);
    const document = { openapi: '3.1.0', info: { title: 'Pets', version: '1' }, paths: { '/pets': { get: {} } } };
    await writeJson(join(app, 'pets.json'), { ...document, servers: [{ url: 'http://pets.test' }] });
    const importing = ['--no-install', 'sluicegate', 'import', 'openapi', 'pets.json', '--dry-run'];
    assert.match((await run('npx', importing, options)).stdout, /pets/);
  });

  it('contains declarations that a strict compiler accepts and that reject misuse', async () => {
    await writeJson(join(app, 'tsconfig.json'), {
      compilerOptions: {
        module: 'nodenext',
        target: 'es2024',
        lib: ['es2024', 'esnext.disposable'],
        strict: true,
        skipLibCheck: false,
        allowImportingTsExtensions: true,
        noEmit: true,
      },
      include: ['plugins'],
    });
    assert.equal(await typeErrors(app), '');
    await writeFile(join(app, 'plugins/misuse.ts'), misuse);
    assert.match(await typeErrors(app), /misuse\.ts\(4,\d+\): error TS2345.*'number'/);
    await rm(join(app, 'plugins/misuse.ts'));
  });

  it('has the test harness for plugins', async () => {
    const tests = ['plugins/greet.test.ts', ...copied.map((name) => `plugins/${name}/${name}.test.ts`)];
    await run(process.execPath, ['--test', ...tests], { cwd: app, env: shell, timeout: 50_000 });
  });

  it('runs the tests of an example that needs Redis', { skip: skipWithoutRedis() }, async () => {
    await using redis = await ownRedis();
    const env = { ...shell, REDIS_PORT: `${redis.port}` };
    const options = { cwd: app, env, timeout: 50_000 };
    const { stdout } = await run(
      process.execPath,
      ['--test', '--test-reporter=tap', 'plugins/visits/visits.integration.test.ts'],
      options,
    );
    assert.match(stdout, /^# skipped 0$/m);
  });

  it('reports the required version when started with an older Node', async () => {
    const command = join(app, 'node_modules/sluicegate/bin/sluicegate.js');
    const old = `data:text/javascript,Object.defineProperty(process,'version',{value:'v24.18.0'})`;
    const failed = await run(process.execPath, ['--import', old, command, 'start'], { cwd: app, env: shell }).then(
      () => assert.fail('it started'),
      (error: { readonly code: number; readonly stderr: string }) => error,
    );
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /^sluicegate: Node 24\.18\.1 or later is needed, and this is v24\.18\.0/);
    assert.match(failed.stderr, /npx .* sluicegate start$/m);
  });
});
