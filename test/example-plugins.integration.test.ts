import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { signHmac, verifyHmac } from '../src/plugin-kit/auth/index.ts';
import { type EchoedRequest, startBackend, type TestBackend } from './support/backend.ts';
import { startTestGateway, type TestGateway } from './support/gateway.ts';
import { openClient } from './support/raw-client.ts';

const names = [
  ...['ab-by-cookie', 'feature-flag', 'geoip', 'html-errors', 'json-api'],
  ...['remote-auth', 'sign-requests', 'tenant-from-host', 'watermark', 'webhook-verifier'],
];
const secret = 'a secret of at least thirty-two characters';
const scheme = { algorithm: 'sha256', encoding: 'hex' } as const;

let gateway: TestGateway;
let backend: TestBackend;
let pages: TestBackend;
let tokens: TestBackend;
let tokenCalls = 0;

before(async () => {
  const plugins = names.map((name) => join(import.meta.dirname, '../examples/plugins', name, 'index.ts'));
  backend = await startBackend();
  pages = await startBackend({ handler: sendPage });
  tokens = await startBackend({ handler: sendToken });
  gateway = await startTestGateway({
    env: { KONG_PLUGINS: ['bundled', ...plugins].join(','), KONG_NGINX_WORKER_PROCESSES: '2' },
  });
  await write('PUT', '/services/echo', { url: backend.url });
  await write('PUT', '/services/pages', { url: pages.url });
  await write('PUT', '/services/tokens', { url: tokens.url });
});
after(async () => {
  await gateway.stop();
  await Promise.all([backend, pages, tokens].map((one) => one.close()));
});

function sendPage(request: IncomingMessage, response: ServerResponse): void {
  const isJson = request.url?.endsWith('.json') === true;
  response.setHeader('Content-Type', isJson ? 'application/json' : 'text/html');
  response.end(isJson ? '{"id":7,"name":"Ada"}' : '<p>page</p>');
}

function sendToken(request: IncomingMessage, response: ServerResponse): void {
  tokenCalls++;
  const isGood = request.headers.authorization === 'Bearer good';
  response.writeHead(isGood ? 200 : 401, { 'Content-Type': 'application/json' });
  response.end(isGood ? '{"id":"ada"}' : '{}');
}

async function write(method: string, path: string, body: unknown): Promise<void> {
  const { status, body: answer } = await gateway.admin(method, path, body);
  assert.ok(status < 300, `${method} ${path}: ${status} ${JSON.stringify(answer)}`);
}

/** A route `/<plugin>` with this plugin. */
async function route(name: string, config: object, service = 'echo'): Promise<void> {
  await write('PUT', `/services/${service}/routes/${name}`, { paths: [`/${name}`] });
  await write('POST', `/routes/${name}/plugins`, { name, config });
}

async function ask(path: string, init: RequestInit = {}) {
  const response = await fetch(gateway.proxyUrl + path, init);
  return { response, text: await response.text() };
}

/** What the backend received. */
async function echoed(path: string, init: RequestInit = {}): Promise<EchoedRequest> {
  const { response, text } = await ask(path, init);
  assert.equal(response.status, 200, text);
  return JSON.parse(text) as EchoedRequest;
}

test('ab-by-cookie keeps a client at its variant', async () => {
  await route('ab-by-cookie', { variants: [{ name: 'a' }, { name: 'b', service: 'pages' }] });
  const first = await ask('/ab-by-cookie');
  const cookie = first.response.headers.get('set-cookie')?.split(';')[0] ?? '';
  assert.match(cookie, /^variant=[ab]$/);
  for (let at = 0; at < 4; at++) {
    const { text, response } = await ask('/ab-by-cookie', { headers: { Cookie: cookie } });
    assert.equal(text === '<p>page</p>', cookie.endsWith('b'));
    assert.equal(response.headers.get('set-cookie'), null);
  }
});

test('feature-flag follows its rows, on all workers, as soon as they are written', async () => {
  await route('feature-flag', { flags: ['search'] });
  await write('POST', '/feature-flags', { name: 'search', enabled: true });
  for (let at = 0; at < 8; at++) assert.equal((await echoed('/feature-flag')).headers['x-feature-flags'], 'search');
  await write('PATCH', '/feature-flags/search', { enabled: false });
  for (let at = 0; at < 8; at++) assert.equal((await echoed('/feature-flag')).headers['x-feature-flags'], '');
});

test('geoip reads its table', async () => {
  const file = join(gateway.prefix, 'countries.csv');
  await writeFile(file, '127.0.0.0,127.255.255.255,DE\n');
  await route('geoip', { file });
  assert.equal((await echoed('/geoip', { headers: { 'X-Country': 'FR' } })).headers['x-country'], 'DE');
});

test('html-errors shows people a page, also without a route', async () => {
  await write('POST', '/plugins', { name: 'html-errors', config: { site: 'Shop' } });
  const page = await ask('/nothing', { headers: { Accept: 'text/html' } });
  assert.deepEqual(
    [page.response.status, page.response.headers.get('content-type')],
    [404, 'text/html; charset=utf-8'],
  );
  assert.match(page.text, /<title>Not found - Shop<\/title>/);
  assert.match((await ask('/nothing')).response.headers.get('content-type') ?? '', /json/);
});

test('json-api shapes what the backend sends', async () => {
  await route('json-api', { type: 'users' }, 'pages');
  const { text } = await ask('/json-api/7.json', { headers: { Accept: 'application/vnd.api+json' } });
  assert.deepEqual(JSON.parse(text), { data: { type: 'users', id: '7', attributes: { name: 'Ada' } } });
  assert.equal((await ask('/json-api/7.json')).text, '{"id":7,"name":"Ada"}');
});

test('remote-auth asks once for all workers', async () => {
  await route('remote-auth', { service: 'tokens' });
  const headers = { Authorization: 'Bearer good' };
  const seen = await Promise.all(Array.from({ length: 20 }, () => echoed('/remote-auth', { headers })));
  assert.ok(seen.every((one) => one.headers['x-credential-identifier'] === 'ada'));
  assert.equal(tokenCalls, 1);
  assert.equal((await ask('/remote-auth', { headers: { Authorization: 'Bearer bad' } })).response.status, 401);
  assert.equal((await ask('/remote-auth')).response.status, 401);
  await tokens.close();
  assert.equal((await ask('/remote-auth', { headers: { Authorization: 'Bearer other' } })).response.status, 503);
});

test('sign-requests signs what the backend receives', async () => {
  await route('sign-requests', { key_id: 'k1', secret });
  const { method, url, headers, body } = await echoed('/sign-requests/a%20b?c=%20', { method: 'POST', body: 'text' });
  const [path = '', query = ''] = url.split('?');
  const digest = createHash('sha256').update(body).digest('hex');
  const payload = ['k1', headers['x-signature-timestamp'], method, path, query, digest].join('\n');
  assert.equal(verifyHmac({ ...scheme, secrets: [secret], signature: String(headers['x-signature']), payload }), true);
});

test('tenant-from-host tells the backend the tenant', async () => {
  await route('tenant-from-host', { domain: 'example.com', tenants: { acme: 'T-1' } });
  assert.equal((await ask('/tenant-from-host')).response.status, 404);
  using client = await openClient(gateway.proxyPort);
  client.write('GET /tenant-from-host HTTP/1.1\r\nHost: acme.example.com\r\nX-Tenant-Id: T-2\r\n\r\n');
  const { body } = await client.readResponse();
  assert.equal((JSON.parse(body) as EchoedRequest).headers['x-tenant-id'], 'T-1');
});

test('watermark marks a page', async () => {
  await route('watermark', { secret }, 'pages');
  const { response, text } = await ask('/watermark');
  const mark = response.headers.get('x-watermark') ?? '';
  assert.equal(text, `<p>page</p>\n<!-- ${mark} -->\n`);
  const signature = mark.split('.')[2] ?? '';
  const payload = mark.slice(0, -signature.length - 1);
  assert.equal(verifyHmac({ ...scheme, secrets: [secret], signature, payload }), true);
});

test('webhook-verifier accepts a delivery once, on whichever worker', async () => {
  await route('webhook-verifier', { secrets: [secret] });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = `sha256=${signHmac(scheme, secret, `${timestamp}.{}`)}`;
  const delivery = { method: 'POST', body: '{}', headers: { 'X-Timestamp': timestamp, 'X-Signature': signature } };
  const outcomes = await Promise.all(Array.from({ length: 12 }, () => ask('/webhook-verifier', delivery)));
  const statuses = outcomes.map(({ response }) => response.status).sort();
  assert.deepEqual(statuses, [200, ...Array<number>(11).fill(409)]);
  assert.equal((await ask('/webhook-verifier', { ...delivery, body: '{ }' })).response.status, 401);
});
