import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startBackend, type TestBackend } from '../../../../../test/support/backend.ts';
import { startTestGateway } from '../../../../../test/support/gateway.ts';
import { until } from '../../../../../test/support/until.ts';
import type { GuardedGateway } from '../../access/users.fixture.ts';
import { startGuardedGateway } from '../../access/users.fixture.ts';
import { call, startTestAdmin } from '../../admin.fixture.ts';

/** `POST /explain`, through a whole gateway. */

// biome-ignore lint/suspicious/noExplicitAny: the document is read member by member.
type Document = any;

let users: GuardedGateway;
let backend: TestBackend;
const held: (() => void)[] = [];
let waiting = 0;

before(async () => {
  users = await startGuardedGateway({ env: { KONG_TRUSTED_IPS: '127.0.0.3' } });
  backend = await startBackend({
    handler: (request, response) => {
      const path = request.url ?? '';
      if (path.startsWith('/held')) {
        waiting++;
        held.push(() => response.end('late'));
        return;
      }
      if (path.startsWith('/redirect')) response.writeHead(302, { location: '/elsewhere' }).end();
      else if (path.startsWith('/bytes')) response.end(Buffer.from([0xff, 0xfe, 0x00]));
      else if (path.startsWith('/large')) response.end('ä'.repeat(200_000));
      else if (path.startsWith('/cookie')) response.writeHead(200, { 'set-cookie': 'sid=of-the-backend' }).end('set');
      else {
        const pieces: Buffer[] = [];
        request.on('data', (piece: Buffer) => pieces.push(piece));
        request.on('end', () => {
          const { headers, method } = request;
          response.end(JSON.stringify({ method, path, headers, body: Buffer.concat(pieces).toString('base64') }));
        });
      }
    },
  });
  const write = async (method: string, path: string, body: object): Promise<void> => {
    const { status, text } = await users.admin(method, path, body);
    assert.ok(status < 300, text);
  };
  await write('PUT', '/services/backend', { url: backend.url });
  await write('PUT', '/services/backend/routes/all', { paths: ['/'], strip_path: false });
  await write('PUT', '/services/backend/routes/local', { paths: ['/local'], strip_path: false });
  await write('POST', '/routes/local/plugins', { name: 'ip-restriction', config: { allow: ['127.0.0.1'] } });
  await write('PUT', '/services/backend/routes/locked', { paths: ['/locked'], strip_path: false });
  await write('POST', '/routes/locked/plugins', { name: 'key-auth' });
  await write('PUT', '/consumers/ann', {});
  await write('POST', '/consumers/ann/key-auth', { key: 'key-of-ann-12345' });
});
after(async () => {
  for (const answer of held) answer();
  await users[Symbol.asyncDispose]();
  await backend.close();
});

async function explain(body: object): Promise<Document> {
  const answer = await users.alice('POST', '/explain', body);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers['cache-control'], 'no-store');
  return answer.json;
}

/** Sends it from this address of the machine. */
function explainFrom(localAddress: string, body: object, headers: Readonly<Record<string, string>> = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<Document>();
  const request = httpRequest(
    `${users.gateway.adminUrl}/explain`,
    {
      method: 'POST',
      agent: false,
      localAddress,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${users.tokens.alice}`, ...headers },
    },
    async (response) => resolve(JSON.parse(Buffer.concat(await response.toArray()).toString())),
  );
  request.on('error', reject);
  request.end(JSON.stringify(body));
  return promise;
}

test('a request with everything arrives as it was given, and is answered with its body and its explanation', async () => {
  const { status, headers, body, explanation } = await explain({
    method: 'put',
    url: 'http://api.test/echo/ü?q=1',
    headers: { 'X-One': 'eins', 'X-Many': ['a', 'b'], 'Content-Type': 'text/plain' },
    body: 'grün',
  });
  assert.equal(status, 200);
  assert.equal(headers['via'], '1.1 kong/3.9.1');
  const echoed = JSON.parse(body.text);
  assert.deepEqual([echoed.method, echoed.path], ['PUT', '/echo/%C3%BC?q=1']);
  assert.equal(Buffer.from(echoed.body, 'base64').toString(), 'grün');
  assert.deepEqual([echoed.headers['x-one'], echoed.headers['x-many']], ['eins', 'a, b']);
  assert.equal(echoed.headers['x-forwarded-host'], 'api.test');
  assert.equal(echoed.headers['content-type'], 'text/plain');
  assert.ok(!JSON.stringify(echoed).includes('debug-token'), 'no field of the explanation reaches a backend');
  assert.equal(explanation.explain, 1);
  assert.equal(explanation.router.matched.name, 'all');
  assert.equal(explanation.note, 'The request was carried out as any other.');
  assert.equal(explanation.answer.body, undefined, 'the body is in the answer once');
  const { client } = explanation.request;
  assert.deepEqual(client, {
    ip: '127.0.0.1',
    because: 'the caller of the Admin API, which has sent the request for it',
  });
});

test('without a method it is GET, or POST with a body; a body that looks like JSON is sent as JSON', async () => {
  assert.equal((await explain({ url: '/' })).explanation.request.method, 'GET');
  const posted = JSON.parse((await explain({ url: '/', body: '{"a":1}' })).body.text);
  assert.deepEqual([posted.method, posted.headers['content-type']], ['POST', 'application/json']);
  const bytes = JSON.parse((await explain({ url: '/', body_base64: '/wAB' })).body.text);
  assert.equal(bytes.body, '/wAB');
  const head = await explain({ method: 'HEAD', url: '/' });
  assert.deepEqual([head.status, head.body.text, head.explanation.request.method], [200, '', 'HEAD']);
});

test('bodies that are not text are base64, long ones end within a character, redirects are not followed', async () => {
  assert.deepEqual((await explain({ url: '/bytes' })).body, { base64: '//4A', truncated: false });
  const { body, explanation } = await explain({ url: '/large' });
  assert.equal(body.truncated, true);
  assert.equal(Buffer.byteLength(body.text), 262_144);
  assert.equal(explanation.answer.body_bytes, 400_000);
  const redirect = await explain({ url: '/redirect' });
  assert.deepEqual([redirect.status, redirect.headers.location], [302, '/elsewhere']);
});

test('secrets are masked in the headers of the answer and in the explanation', async () => {
  const document = await explain({
    url: '/cookie?access_token=typed-secret-1',
    headers: { Authorization: 'Bearer typed-secret-2', Cookie: 'sid=typed-secret-3', apikey: 'typed-secret-4' },
  });
  assert.equal(document.status, 200);
  const text = JSON.stringify(document);
  assert.ok(!text.includes('typed-secret'), text);
  assert.ok(!text.includes('of-the-backend'), text);
});

test('a dry run contacts no backend; a plugin answers as for any client', async () => {
  const dry = await explain({ url: '/echo', dry: true });
  assert.deepEqual([dry.status, dry.body, dry.explanation.carried_out], [null, null, false]);
  assert.equal((await explain({ url: '/locked' })).status, 401);
  const right = await explain({ url: '/locked', headers: { apikey: 'key-of-ann-12345' } });
  assert.deepEqual([right.status, right.explanation.consumer.username], [200, 'ann']);
});

test('the request comes from the address of the caller, so a rule for the node itself does not admit the caller', async () => {
  assert.equal((await explainFrom('127.0.0.1', { url: '/local' })).status, 200);
  const other = await explainFrom('127.0.0.2', { url: '/local', headers: { 'X-Real-IP': '127.0.0.1' } });
  assert.equal(other.status, 403);
  assert.equal(other.explanation.request.client.ip, '127.0.0.2');
  const echoed = JSON.parse((await explainFrom('127.0.0.2', { url: '/' })).body.text);
  assert.equal(echoed.headers['x-forwarded-for'], '127.0.0.2');
  // A trusted peer is trusted here as it is at the proxy listener, and names the caller of the Admin API.
  const proxied = await explainFrom('127.0.0.3', { url: '/local' }, { 'x-forwarded-for': '203.0.113.7' });
  assert.deepEqual([proxied.status, proxied.explanation.request.client.ip], [403, '203.0.113.7']);
  const trusted = await explainFrom('127.0.0.3', { url: '/local', headers: { 'X-Real-IP': '127.0.0.1' } });
  assert.equal(trusted.status, 200);
});

test('the debug token alone makes nobody another client', async () => {
  const token = readFileSync(join(users.gateway.prefix, 'request_debug_token'), 'utf8').trim();
  const value = `1; caller=127.0.0.1; key=${'0'.repeat(64)}`;
  const headers = { 'x-sluicegate-debug-token': token, 'x-sluicegate-explain': value };
  const forged = await call(users.gateway.proxyUrl, 'GET', '/', undefined, headers);
  assert.equal(forged.status, 400);
});

test('wrong fields are named, and nothing is sent', async () => {
  const refused = async (body: object, field: string, message: RegExp): Promise<void> => {
    const answer = await users.alice('POST', '/explain', body);
    assert.equal(answer.status, 400, answer.text);
    assert.match(String((answer.json['fields'] as Record<string, string>)[field]), message);
  };
  await refused({}, 'url', /required/);
  await refused({ url: 'ftp://a.test/' }, 'url', /neither a path/);
  await refused({ url: 'http://user@a.test/' }, 'url', /not a host/);
  await refused({ url: '/a b' }, 'url', /space or a control/);
  await refused({ url: '/a\r\nX: y' }, 'url', /space or a control/);
  await refused({ url: '/', method: 'GET /x HTTP/1.1\r\n' }, 'method', /not a method/);
  await refused({ url: '/', method: 'CONNECT' }, 'method', /tunnels/);
  for (const value of ['a\r\nX: y', 'a\nb', 'a\0b']) {
    await refused({ url: '/', headers: { X: value } }, 'headers', /control character/);
  }
  await refused({ url: '/', headers: { 'X\r\nY': 'a' } }, 'headers', /not the name of a header/);
  for (const name of ['Content-Length', 'transfer-encoding', 'Connection', 'Upgrade', 'X-Sluicegate-Explain']) {
    await refused({ url: '/', headers: { [name]: 'x' } }, 'headers', /sets the header/);
  }
  await refused({ url: '/', headers: { X: 1 } }, 'headers', /not a string/);
  await refused({ url: '/', headers: { X: 'a'.repeat(65_536) } }, 'headers', /more than 65536 bytes/);
  await refused({ url: '/', body: 'a'.repeat(1_048_577) }, 'body', /more than 1048576 bytes/);
  await refused({ url: '/', body: '', body_base64: '' }, 'body', /exclude/);
  await refused({ url: '/', body_base64: '!' }, 'body_base64', /base64/);
  await refused({ url: '/', host: '127.0.0.1:22' }, 'host', /unknown field/);
  assert.equal((await explain({ url: '/', body: 'a'.repeat(1_048_576) })).status, 200);
});

test('https needs a listener with TLS', async () => {
  const answer = await users.alice('POST', '/explain', { url: 'https://a.test/' });
  assert.equal(answer.status, 400);
  assert.match(String(answer.json['message']), /no proxy listener with TLS/);
});

test('a role that only reads may not send; the audit record has no values', async () => {
  assert.equal((await users.reader('POST', '/explain', { url: '/' })).status, 403);
  await explain({ url: '/?x=secret-of-a-url', headers: { 'X-S': 'secret-of-a-header' }, body: 'secret-of-a-body' });
  const { json, text } = await users.admin('GET', '/audit?size=5');
  const [latest] = json['data'] as readonly Document[];
  assert.deepEqual([latest.path, latest.operation, latest.actor.name], ['/explain', 'action', 'alice']);
  assert.deepEqual(latest.details.fields, ['url', 'headers', 'body']);
  assert.ok(!text.includes('secret-of-a'), text);
});

test('one caller has two requests in flight, and the others of it wait without keeping other callers out', async () => {
  const before = waiting;
  const own = [1, 2, 3].map((at) => explain({ url: `/held/${at}` }));
  await until(() => waiting === before + 2);
  const other = await users.admin('POST', '/explain', { url: '/echo' });
  assert.equal(other.status, 200);
  assert.equal(waiting, before + 2);
  for (const answer of held.splice(0)) answer();
  await until(() => waiting === before + 3);
  for (const answer of held.splice(0)) answer();
  assert.deepEqual(
    (await Promise.all(own)).map(({ status }) => status),
    [200, 200, 200],
  );
});

test('a gateway with request_debug = off explains nothing', async () => {
  await using gateway = await startTestGateway({ env: { KONG_REQUEST_DEBUG: 'off' } });
  const { status, body } = await gateway.admin('POST', '/explain', { url: '/' });
  assert.equal(status, 400);
  assert.match(String(body['message']), /request_debug is off/);
});

test('a control plane carries no traffic', async () => {
  await using admin = await startTestAdmin({ settings: { workers: 0 } });
  const { status, json } = await admin.call('POST', '/explain', { url: '/' });
  assert.equal(status, 400);
  assert.match(String(json['message']), /control plane and carries no traffic/);
});
