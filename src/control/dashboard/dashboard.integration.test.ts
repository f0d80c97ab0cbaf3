import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import type { Settings } from '../../shared/settings/settings.ts';
import { startTestAdmin } from '../admin/admin.fixture.ts';
import { startDashboard } from '../admin/start-admin.ts';
import type { BuiltManifest } from './manifest.ts';

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface TestDashboard extends AsyncDisposable {
  /** Where `dashboard/dist` would be. */
  readonly folder: string;
  readonly port: number;
  /** The path goes to the gateway as it is, which `fetch` would normalise. */
  get(path: string, headers?: Readonly<Record<string, string>>, method?: string, body?: string): Promise<Answer>;
}

const script = 'console.log(1);\n'.repeat(100);

async function startTestDashboard(settings: Partial<Settings> = {}, built = true): Promise<TestDashboard> {
  const admin = await startTestAdmin({ settings });
  const top = await mkdtemp(join(tmpdir(), 'sluicegate-dashboard-'));
  const folder = join(top, 'dist');
  if (built) await writeBuild(folder);
  const { adminListen } = admin.deps.settings;
  const deps = { ...admin.deps, settings: { ...admin.deps.settings, adminGuiListen: adminListen } };
  const listener = await startDashboard(deps, admin.options, undefined, folder);
  const port = listener.addresses[0]?.port ?? 0;
  return {
    folder,
    port,
    get: (path, headers = {}, method = 'GET', body = undefined) => {
      return new Promise((resolve, reject) => {
        const request = httpRequest({ host: '127.0.0.1', port, path, method, headers }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => {
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) });
          });
        });
        request.on('error', reject).end(body);
      });
    },
    async [Symbol.asyncDispose]() {
      await listener.close(false);
      await admin[Symbol.asyncDispose]();
      await rm(top, { recursive: true, force: true });
    },
  };
}

/** As dashboard/build.ts does, under another name first. */
async function writeBuild(folder: string, page = 'first'): Promise<void> {
  const unfinished = `${folder}.unfinished`;
  const write = async (name: string, content: string | Buffer): Promise<void> => {
    await mkdir(dirname(join(unfinished, name)), { recursive: true });
    await writeFile(join(unfinished, name), content);
  };
  const compressed = brotliCompressSync(script);
  await write('index.html', `<!doctype html><base href="/" /><p>${page}</p>`);
  await write('assets/index-abc.js', script);
  await write('assets/index-abc.js.br', compressed);
  await write('secret.txt', 'not in the manifest');
  const manifest: BuiltManifest = {
    sources: page,
    files: {
      'index.html': { type: 'text/html; charset=utf-8', immutable: false, hash: page, sizes: { identity: 50 } },
      'assets/index-abc.js': {
        type: 'text/javascript; charset=utf-8',
        immutable: true,
        hash: 'abc',
        sizes: { identity: script.length, br: compressed.length },
      },
    },
  };
  await write('files.json', JSON.stringify(manifest));
  await rm(folder, { recursive: true, force: true });
  await rename(unfinished, folder);
}

test('serves the page for every path of its router, and files of the manifest only', async () => {
  await using dashboard = await startTestDashboard();
  for (const path of [
    '/',
    '/config/services',
    '/config/services/0f1e',
    '/config/upstreams/a.internal',
    '/index.html',
    '/?a=1',
    '//',
    '/..%2f',
  ]) {
    const { status, body } = await dashboard.get(path);
    assert.equal(status, 200, path);
    assert.match(body.toString(), /first/, path);
  }
  const outside = [
    '/secret.txt',
    '/files.json',
    '/assets/../secret.txt',
    '/assets/..%2fsecret.txt',
    '/%2e%2e%2fsecret.txt',
  ];
  for (const path of [
    ...outside,
    '/assets/index-old.js',
    '/assets/',
    '/constructor.js',
    '/__proto__.js',
    '/passwd.txt',
  ]) {
    assert.equal((await dashboard.get(path)).status, 404, path);
  }
  assert.equal((await dashboard.get('http://other.test/assets/index-abc.js')).status, 404);
});

test('sends the smallest form that the client accepts, and 304 for one that it has', async () => {
  await using dashboard = await startTestDashboard();
  const get = (accepted: string, tag = '') =>
    dashboard.get('/assets/index-abc.js', {
      'accept-encoding': accepted,
      ...(tag === '' ? {} : { 'if-none-match': tag }),
    });
  const best = await get('gzip, deflate, br');
  assert.equal(best.headers['content-encoding'], 'br');
  assert.equal(brotliDecompressSync(best.body).toString(), script);
  assert.equal(best.headers['cache-control'], 'public, max-age=31536000, immutable');
  assert.equal(best.headers.vary, 'Accept-Encoding');
  const plain = await get('br;q=0, gzip');
  assert.equal(plain.headers['content-encoding'], undefined);
  assert.equal(plain.body.toString(), script);
  assert.notEqual(plain.headers.etag, best.headers.etag);
  const same = await get('br', `"x", W/${best.headers.etag}`);
  assert.deepEqual([same.status, same.body.length], [304, 0]);
  assert.equal((await get('', String(best.headers.etag))).status, 200);
  const page = await dashboard.get('/', { 'accept-encoding': 'br' });
  assert.match(brotliDecompressSync(page.body).toString(), /first/);
  assert.equal(page.headers['cache-control'], 'no-cache');
  assert.equal(
    (await dashboard.get('/', { 'accept-encoding': 'br', 'if-none-match': String(page.headers.etag) })).status,
    304,
  );
});

test('only reads: other methods get 405, and HEAD has no body', async () => {
  await using dashboard = await startTestDashboard();
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
    const { status, headers } = await dashboard.get('/', {}, method);
    assert.deepEqual([status, headers.allow], [405, 'GET, HEAD'], method);
  }
  const { status, headers, body } = await dashboard.get('/assets/index-abc.js', {}, 'HEAD');
  assert.deepEqual([status, headers['content-length'], body.length], [200, String(script.length), 0]);
});

test('forbids frames, inline code and other origins on every answer', async () => {
  await using dashboard = await startTestDashboard();
  for (const path of ['/', '/assets/index-abc.js', '/missing.js', '/api/services']) {
    const { headers } = await dashboard.get(path);
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /^default-src 'none'/, path);
    assert.match(policy, /frame-ancestors 'none'/, path);
    assert.doesNotMatch(policy, /unsafe|\*|https?:/, path);
    assert.equal(headers['x-content-type-options'], 'nosniff', path);
    assert.equal(headers['referrer-policy'], 'no-referrer', path);
    assert.equal(headers['cross-origin-resource-policy'], 'same-origin', path);
  }
  const { headers } = await dashboard.get('/');
  assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
  assert.match(String(headers['content-security-policy']), /script-src 'self'; style-src 'self'/);
  // A stored text that is shown as a document cannot run in the page's origin.
  assert.match(String((await dashboard.get('/api/')).headers['content-security-policy']), /sandbox$/);
});

test('the Admin API is below /api/, with its own rules', async () => {
  await using dashboard = await startTestDashboard();
  const { get, port } = dashboard;
  const json = { 'content-type': 'application/json' };
  const service = JSON.stringify({ name: 's', host: 'a.test' });
  const own = { ...json, origin: `http://127.0.0.1:${port}` };
  assert.equal((await get('/api/services', own, 'POST', service)).status, 201);
  assert.match((await get('/api/services/s')).body.toString(), /a\.test/);
  assert.equal((await get('/api')).status, 200);
  assert.equal((await get('/apis/services')).body.includes('first'), true, 'a path of the page');
  assert.equal((await get('/services/s')).body.includes('first'), true, 'the API is nowhere else');
  // A page of the proxy on the same host, and a name that its owner lets resolve to this address.
  const foreign = { ...json, origin: 'http://127.0.0.1:8000' };
  assert.equal((await get('/api/services', foreign, 'POST', service)).status, 403);
  assert.equal((await get('/api/services', { host: 'rebound.example' })).status, 403);
});

test('the Admin API below /api/ requires the token', async () => {
  await using dashboard = await startTestDashboard({ adminToken: 'the-token-of-this-test' });
  assert.equal((await dashboard.get('/')).status, 200, 'the files are public');
  assert.equal((await dashboard.get('/api/services')).status, 401);
  const { status } = await dashboard.get('/api/services', { authorization: 'Bearer the-token-of-this-test' });
  assert.equal(status, 200);
});

test('is below admin_gui_path', async () => {
  await using dashboard = await startTestDashboard({ adminGuiPath: '/ops/manager' });
  const page = await dashboard.get('/ops/manager/config/services');
  assert.match(page.body.toString(), /<base href="\/ops\/manager\/" \/>/);
  assert.equal((await dashboard.get('/ops/manager/assets/index-abc.js')).status, 200);
  assert.equal((await dashboard.get('/ops/manager/api/services')).status, 200);
  for (const path of ['/', '/ops/manager']) {
    const { status, headers } = await dashboard.get(path);
    assert.deepEqual([status, headers.location], [302, '/ops/manager/'], path);
  }
  for (const path of ['/ops', '/api/services', '/ops/managers', '/assets/index-abc.js']) {
    assert.equal((await dashboard.get(path)).status, 404, path);
  }
});

test('without built files the page says why, and the Admin API works', async () => {
  await using dashboard = await startTestDashboard({}, false);
  const { get, folder } = dashboard;
  const shown = async (): Promise<string> => {
    const { status, body, headers } = await get('/config/services');
    assert.deepEqual([status, headers['cache-control']], [503, 'no-store']);
    return body.toString();
  };
  assert.match(await shown(), /npm run build:dashboard/);
  assert.match(await shown(), /http-equiv="refresh"/);
  assert.doesNotMatch(await shown(), /<script|<style/);
  assert.equal((await get('/notice.css')).status, 200);
  assert.equal((await get('/assets/index-abc.js')).status, 404);
  assert.equal((await get('/api/services')).status, 200);

  const builder = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] });
  const note = (error: string | null) => writeFile(`${folder}.state.json`, JSON.stringify({ pid: builder.pid, error }));
  await note(null);
  assert.match(await shown(), /is being built/);
  await note('<b>no such module');
  assert.match(await shown(), /&lt;b>|&lt;b&gt;no such module/);
  await note(null);
  builder.stdin.end();
  await once(builder, 'exit');
  assert.match(await shown(), /has not been built/, 'the build was killed');

  await writeBuild(folder);
  assert.match((await get('/')).body.toString(), /first/, 'a build that ends later is served');
  await writeBuild(folder, 'second');
  assert.match((await get('/')).body.toString(), /second/);
});
