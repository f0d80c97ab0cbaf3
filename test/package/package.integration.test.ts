import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type ExampleBackend, startJsonBackend } from '../../examples/backends/json-backend.ts';
import { installPackage, type PackedPackage, packPackage, shell, typeErrors, writeJson } from './installed-package.ts';

const run = promisify(execFile);

const plugin = `
import { definePlugin, httpProtocols, offThread, type AccessContext } from 'sluicegate/plugin-sdk';
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
import { parseRate } from 'sluicegate/plugin-sdk';
export function double(value: number): number {
  return typeof parseRate === 'function' ? value * 2 : value;
}
`;

const pluginTest = `
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from 'sluicegate/plugin-sdk/testing';
import { parseXml, xmlText } from 'sluicegate/plugin-sdk/xml';
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
    packed = await packPackage(home);
    await installPackage(packed.path, app);
    await mkdir(join(app, 'plugins'));
    await writeFile(join(app, 'plugins/greet.ts'), plugin);
    await writeFile(join(app, 'plugins/schema.ts'), schema);
    await writeFile(join(app, 'plugins/double.ts'), double);
    await writeFile(join(app, 'plugins/greet.test.ts'), pluginTest);
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
        KONG_NGINX_WORKER_PROCESSES: '1',
        KONG_PLUGINS: plugins,
      },
      // npx stays above the gateway: both are ended by their group.
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
    // npx ends first; the output closes when the gateway has ended, too.
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

  it('has the compiled program, and no tests, fixtures, benchmarks or TypeScript', () => {
    const paths = packed.files.map(({ path }) => path);
    assert.deepEqual(
      paths.filter((path) => /test\.|fixture|benchmark|(?<!\.d)\.ts$|\.tgz$/.test(path)),
      [],
    );
    const elsewhere = paths.filter((path) => !/^(?:bin|dist)\//.test(path));
    assert.deepEqual(elsewhere.sort(), ['LICENSE', 'README.md', 'package.json']);
    assert.ok(paths.includes('dist/plugins/xml-json/convert-shared.js'), 'modules of threads are there');
    assert.ok(packed.size < 2_000_000 && packed.unpackedSize < 6_000_000, `${packed.size} / ${packed.unpackedSize}`);
  });

  it('starts by npx, with every bundled plugin, its threads and a plugin in TypeScript', {
    timeout: 60_000,
  }, async () => {
    const { proxy } = await start('bundled,./plugins/greet.ts');
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
      // Large enough to be changed in a thread.
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

  it('has the other commands, which find the node', { timeout: 60_000 }, async () => {
    if (gateway === null) await start('bundled');
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

  it('has declarations that a strict compiler accepts, and that refuse misuse', { timeout: 60_000 }, async () => {
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

  it('has the test harness for plugins', { timeout: 60_000 }, async () => {
    await run(process.execPath, ['--test', 'plugins/greet.test.ts'], { cwd: app, env: shell, timeout: 30_000 });
  });

  it('reports the required version when started with an older Node', { timeout: 30_000 }, async () => {
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
