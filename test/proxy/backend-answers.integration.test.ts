import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';

const answerer = fileURLToPath(new URL('../support/plugins/answerer.ts', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'sluicegate-answers-'));
const accessLog = join(directory, 'access.log');
const errorLog = join(directory, 'error.log');

let gateway: TestGateway;
let backend: TestBackend;
let other: TestBackend;
let hanging: { arrived(): void; givenUp(): void } | null = null;

const texts: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => void>> = {
  '/plain': (_, response) => response.setHeader('Content-Type', 'text/plain').end('plain text'),
  '/html': (_, response) => response.setHeader('Content-Type', 'text/html').end('html text'),
  '/gzip': (_, response) => {
    const codings = { 'Content-Encoding': 'br, gzip', ETag: '"one"', 'Content-Type': 'text/plain' };
    response.writeHead(200, codings).end(gzipSync(brotliCompressSync('coded text')));
  },
  '/bomb': (_, response) => {
    response.writeHead(200, { 'Content-Encoding': 'gzip', 'Content-Type': 'text/plain' });
    response.end(gzipSync(Buffer.alloc(5_000_000)));
  },
  '/broken': (_, response) => {
    response.writeHead(200, { 'Content-Encoding': 'gzip', 'Content-Type': 'text/plain' }).end('this is not gzip');
  },
  '/error': (_, response) => response.writeHead(500).end('the backend has failed'),
  '/cut': (_, response) => {
    response.writeHead(200, { 'Content-Length': '100' });
    response.write('half', () => response.destroy());
  },
  '/added': (request, response) => response.end(request.headers['x-added']),
  '/hang': (request) => {
    hanging?.arrived();
    const { givenUp } = hanging ?? {};
    request.socket.on('close', () => givenUp?.());
  },
};

before(async () => {
  backend = await startBackend({
    handler: (request, response) => {
      const path = (request.url ?? '').split('?')[0] ?? '';
      const handler = texts[path];
      if (handler !== undefined) handler(request, response);
      else request.pipe(response.setHeader('X-Coding', request.headers['content-encoding'] ?? 'none'));
    },
  });
  other = await startBackend({ name: 'other' });
  gateway = await startTestGateway({
    settings: { plugins: ['bundled', answerer], proxyAccessLog: accessLog, proxyErrorLog: errorLog, logLevel: 'info' },
  });
  await created('/services', { name: 'other', url: `${other.url}/base` });
  for (const does of ['stand-in', 'tap', 'replace', 'read', 'decode', 'call', 'call-own', 'call-long', 'mask']) {
    await created('/services', { name: does, url: backend.url, retries: 0 });
    await created(`/services/${does}/routes`, { paths: [`/${does}`] });
    const config = { does: does === 'read' ? 'read-upper' : does };
    await created(`/services/${does}/plugins`, { name: 'answerer', config });
  }
  await created('/services', { name: 'gone', url: 'http://127.0.0.1:1', retries: 0 });
  await created('/services/gone/routes', { paths: ['/gone'] });
  await created('/services/gone/plugins', { name: 'answerer', config: { does: 'replace' } });
});

after(async () => {
  await gateway.stop();
  await backend.close();
  await other.close();
  rmSync(directory, { recursive: true });
});

async function created(path: string, body: Readonly<Record<string, unknown>>): Promise<void> {
  const answer = await gateway.admin('POST', path, body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
}

function get(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(gateway.proxyUrl + path, init);
}

async function seen(text: string): Promise<void> {
  await until(() => readFileSync(errorLog, 'utf8').includes(text));
}

test('a plugin reply that replaces the backend passes the same phases as a backend answer', async () => {
  const answer = await get('/stand-in/x');
  assert.deepEqual([answer.status, await answer.text()], [200, 'from the plugin']);
  assert.equal(answer.headers.get('x-from'), 'plugin');
  assert.equal(answer.headers.get('content-length'), '15');
  assert.equal(answer.headers.get('x-kong-upstream-latency'), '0');
  await seen('200 plugin from the plugin (whole)');
});

test('a plugin reply to HEAD has the length and no body', async () => {
  const answer = await get('/stand-in/x', { method: 'HEAD' });
  assert.deepEqual([answer.status, answer.headers.get('content-length'), await answer.text()], [200, '15', '']);
});

test('a tap receives complete answers as complete, and broken ones as broken', async () => {
  assert.equal(await (await get('/tap/plain')).text(), 'plain text');
  await seen('200  plain text (whole)');
  await assert.rejects(get('/tap/cut').then((answer) => answer.text()));
  await seen('200  half (aborted)');
});

test('a plugin reply replaces an error of the backend, and of a backend that is unavailable', async () => {
  const replaced = await get('/replace/error');
  assert.deepEqual([replaced.status, await replaced.text()], [200, 'from the plugin']);
  const failed = await get('/gone');
  assert.deepEqual([failed.status, failed.headers.get('x-error')], [200, '502']);
  assert.equal(await failed.text(), 'from the plugin');
});

test('only answers whose body a plugin requests are collected', async () => {
  assert.equal(await (await get('/read/plain')).text(), 'PLAIN TEXT');
  assert.equal(await (await get('/read/html')).text(), 'html text');
});

test('a plugin reads a body without its content coding, and the ETag becomes weak', async () => {
  const answer = await get('/read/gzip', { headers: { 'Accept-Encoding': 'identity' } });
  assert.equal(await answer.text(), 'CODED TEXT');
  assert.deepEqual([answer.headers.get('content-encoding'), answer.headers.get('etag')], [null, 'W/"one"']);
});

test('a content coding that is broken or expands too far causes a 502', async () => {
  for (const path of ['/read/bomb', '/read/broken']) assert.equal((await get(path)).status, 502, path);
});

test('a request body is decoded for a plugin, and reaches the backend decoded', async () => {
  const init = { method: 'POST', body: gzipSync('sent text'), headers: { 'Content-Encoding': 'gzip' } };
  const answer = await get('/decode/echo', init);
  assert.deepEqual([answer.headers.get('x-coding'), await answer.text()], ['none', 'sent text']);
});

test('request bodies that cannot be decoded are refused', async () => {
  const send = async (coding: string, body: string | Buffer): Promise<number> =>
    (await get('/decode/echo', { method: 'POST', body, headers: { 'Content-Encoding': coding } })).status;
  assert.equal(await send('gzip', 'no gzip'), 400);
  assert.equal(await send('unheard-of', 'text'), 415);
  assert.equal(await send('gzip', gzipSync(Buffer.alloc(5_000_000))), 413);
});

test('a call goes to another service, with the named headers and the identity of the client', async () => {
  const answer = await get('/call/x', { headers: { 'X-Passed': 'yes', 'X-Kept': 'no', 'Content-Type': 'text/plain' } });
  const { status, body } = (await answer.json()) as { readonly status: number; readonly body: string };
  const echoed = JSON.parse(body) as { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  assert.deepEqual([status, echoed.url], [200, '/base/called']);
  const { 'x-passed': passed, 'x-kept': kept, 'x-call': own, 'x-forwarded-for': client } = echoed.headers;
  assert.deepEqual([passed, kept, own, client], ['yes', undefined, '1', '127.0.0.1']);
});

test('a call to the same service repeats the request of the client', async () => {
  const answer = await get('/call-own/plain');
  assert.deepEqual(await answer.json(), { status: 200, body: 'plain text' });
});

test('changes of plugins to the request apply to such a call exactly once', async () => {
  const answer = await get('/call-own/added');
  assert.deepEqual(await answer.json(), { status: 200, body: 'once' });
});

test('a call that is not answered in time fails with a timeout', async () => {
  const answer = await get('/call-own/hang');
  assert.deepEqual([answer.status, await answer.json()], [504, { reason: 'timeout' }]);
});

test('a call is cancelled when the client disconnects', { timeout: 5_000 }, async () => {
  const { promise: asked, resolve: arrived } = Promise.withResolvers<void>();
  const { promise: given, resolve: givenUp } = Promise.withResolvers<void>();
  hanging = { arrived, givenUp };
  const aborting = new AbortController();
  const answer = get('/call-long/hang', { signal: aborting.signal });
  await asked;
  aborting.abort();
  await assert.rejects(answer);
  await given;
});

test('values that a plugin masks are masked in the access log', async () => {
  await (await get('/mask/plain?card=4111&name=ada')).text();
  await until(() => readFileSync(accessLog, 'utf8').includes('/mask/plain?card=####&name=ada'));
  assert.doesNotMatch(readFileSync(accessLog, 'utf8'), /card=4111/);
});
