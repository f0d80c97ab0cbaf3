// The listener of the portal: what a consumer sees, and what nobody gets through it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';

type Json = Readonly<Record<string, unknown>>;

const keys = { ann: 'key-of-ann-0123456789', bob: 'key-of-bob-0123456789' };
let gateway: TestGateway;
let backend: TestBackend;
let port = 0;
const ids = new Map<string, string>();

/** The path goes to the portal as it is, which `fetch` would normalise. Each caller has an address of its own. */
function get(
  path: string,
  key: string | null = null,
  {
    method = 'GET',
    headers = {},
    localAddress = '127.0.0.1',
  }: { method?: string; headers?: Record<string, string>; localAddress?: string } = {},
): Promise<{
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: Json;
}> {
  const signed = key === null ? headers : { ...headers, authorization: `Bearer ${key}` };
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', port, path, method, headers: signed, localAddress, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = String(response.headers['content-type']).startsWith('application/json');
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: isJson && text !== '' ? (JSON.parse(text) as Json) : {},
          });
        });
      },
    );
    request.on('error', reject).end();
  });
}

const document = (title: string, path: string): string =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title, version: '1', 'x-internal': 'secret-of-document' },
    servers: [{ url: `http://127.0.0.1:${backend.port}` }],
    'x-kong-plugin-key-auth': { config: { key_names: ['x-key'] } },
    'x-kong-plugin-acl': { config: { allow: [title] } },
    paths: {
      [path]: {
        get: {
          operationId: `get-${title}`,
          responses: { '200': { description: 'ok' } },
          'x-kong-plugin-rate-limiting': { config: { minute: 50, policy: 'local' } },
        },
      },
    },
  });

before(async () => {
  backend = await startBackend();
  gateway = await startTestGateway({ env: { KONG_PORTAL_LISTEN: '127.0.0.1:0', KONG_ADMIN_TOKEN: '' } });
  port = gateway.gateway.addresses.portal[0]?.port ?? 0;
  const { admin } = gateway;
  for (const [title, path] of [
    ['tea', '/tea'],
    ['coffee', '/coffee'],
  ] as const) {
    const { status, body } = await admin('POST', '/apis/import', { document: document(title, path) });
    assert.equal(status, 200, JSON.stringify(body));
    ids.set(title, String((body['api'] as Json)['id']));
  }
  for (const [username, group] of [
    ['ann', 'tea'],
    ['bob', 'coffee'],
  ] as const) {
    await admin('POST', '/consumers', { username });
    await admin('POST', `/consumers/${username}/key-auth`, { key: keys[username] });
    await admin('POST', `/consumers/${username}/acls`, { group });
  }
});

after(async () => {
  await gateway.stop();
  await backend.close();
});

test('a consumer sees the APIs that it may call, with their demands, and its keys without their secrets', async () => {
  const me = await get('/portal/api/me', keys.ann);
  assert.equal(me.status, 200, me.text);
  assert.equal(me.json['username'], 'ann');
  assert.deepEqual(
    (me.json['keys'] as readonly Json[]).map(({ masked, current }) => [masked, current]),
    [['key-…', true]],
  );
  assert.deepEqual((await get('/portal/api/apis', keys.ann)).json['data'], [
    { id: ids.get('tea'), name: 'tea', title: 'tea', version: '1' },
  ]);
  const { status, json, text } = await get(`/portal/api/apis/${ids.get('tea')}`, keys.ann);
  assert.equal(status, 200, text);
  const [operation] = json['operations'] as readonly Json[];
  assert.deepEqual([operation?.['method'], operation?.['path']], ['GET', '/tea']);
  const demands = (json['demands'] as readonly Json[])[Number(operation?.['demands'])];
  assert.deepEqual(demands?.['limits'], [{ plugin: 'rate-limiting', limit: 50, unit: 'requests', per: 'minute' }]);
  assert.match(JSON.stringify(demands?.['auth']), /header x-key/);
  for (const answer of [me.text, text]) {
    assert.doesNotMatch(
      answer,
      new RegExp(`${keys.ann}|${keys.bob}|bob|coffee|127\\.0\\.0\\.1|secret-of|x-kong|get-tea-route`),
    );
  }
});

test('a consumer sees its own usage, and nothing of another one', async () => {
  const call = (path: string, key: string) => fetch(`${gateway.proxyUrl}${path}`, { headers: { 'x-key': key } });
  for (let at = 0; at < 3; at++) assert.equal((await call('/tea', keys.ann)).status, 200);
  assert.equal((await call('/coffee', keys.bob)).status, 200);
  assert.equal((await call('/coffee', keys.ann)).status, 403);
  const total = async (key: string, range: string): Promise<readonly number[]> => {
    const { json, text } = await get(`/portal/api/usage?range=${range}`, key);
    const usage = json['usage'] as {
      readonly parts: readonly { readonly requests: number; readonly client_errors: number }[];
    } | null;
    assert.ok(usage !== null, text);
    return [
      usage.parts.reduce((sum, part) => sum + part.requests, 0),
      usage.parts.reduce((sum, part) => sum + part.client_errors, 0),
    ];
  };
  assert.deepEqual(await total(keys.ann, 'day'), [4, 1]);
  assert.deepEqual(await total(keys.bob, 'day'), [1, 0]);
  const bob = String((await gateway.admin('GET', '/consumers/bob')).body['id']);
  for (const query of [`consumer=${bob}`, 'consumer=bob', `range=day&consumer=${bob}`]) {
    const { json } = await get(`/portal/api/usage?${query}`, keys.ann);
    assert.equal(
      ((json['usage'] as Json)['parts'] as readonly Json[]).reduce((sum, part) => sum + Number(part['requests']), 0),
      4,
    );
  }
  assert.equal((await get('/portal/api/usage?range=__proto__', keys.ann)).status, 400);
});

test('of an API, a consumer sees the operations that its routes carry, and only their schemas', async () => {
  const schemaOf = (name: string) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } });
  const operation = (name: string, group: string) => ({
    get: {
      operationId: name,
      tags: [`tag-of-${name}`],
      'x-kong-plugin-acl': { config: { allow: [group] } },
      responses: { '200': { description: 'ok', content: schemaOf(`Schema-of-${name}`) } },
    },
  });
  const mixed = {
    openapi: '3.1.0',
    info: { title: 'mixed', version: '1' },
    servers: [{ url: 'http://127.0.0.1:9' }],
    tags: [{ name: 'tag-of-open' }, { name: 'tag-of-hidden' }],
    paths: { '/open': operation('open', 'tea'), '/hidden': operation('hidden', 'coffee') },
    components: { schemas: { 'Schema-of-open': { type: 'object' }, 'Schema-of-hidden': { type: 'object' } } },
  };
  const { body } = await gateway.admin('POST', '/apis/import', { document: JSON.stringify(mixed) });
  const id = String((body['api'] as Json)['id']);
  const { text } = await get(`/portal/api/apis/${id}`, keys.ann);
  assert.match(text, /Schema-of-open/);
  assert.doesNotMatch(text, /hidden/);
  await gateway.admin('DELETE', `/apis/${id}`);
});

test('an API of others and one that does not exist have the same answer', async () => {
  const hidden = await get(`/portal/api/apis/${ids.get('coffee')}`, keys.ann);
  const missing = await get('/portal/api/apis/00000000-0000-4000-8000-000000000000', keys.ann);
  assert.deepEqual([hidden.status, hidden.text], [404, missing.text]);
  assert.equal(missing.status, 404);
  await gateway.admin('PATCH', '/apis/tea', { portal: false });
  assert.equal((await get(`/portal/api/apis/${ids.get('tea')}`, keys.ann)).status, 404);
  assert.deepEqual((await get('/portal/api/apis', keys.ann)).json['data'], []);
  await gateway.admin('PATCH', '/apis/tea', { portal: true });
});

test('the Admin API, and files of the dashboard and of the machine, are nowhere on the listener', async () => {
  const paths = [
    '/services',
    '/portal/services',
    '/api/services',
    '/portal/api/services',
    '/portal/api/../../services',
    '/portal/api/%2e%2e/services',
    '/portal/..%2fservices',
    '/portal//api/me',
    '/portal/api//me',
    '/PORTAL/api/me',
    '/portal/api/me/',
    '/portal/api/consumers',
    `/portal/api/apis/${ids.get('tea')}/document`,
    '/portal/api/apis/../me',
    '/portal/index.html',
    '/portal/files.json',
    '/portal/portal.html',
    '/portal/assets/../index.html',
    '/portal/assets/..%2f..%2fpackage.json',
    '/portal/../../../../etc/passwd',
    '/portal/constructor',
    '/portal/__proto__',
    '/default/services',
    '/status',
    '/metrics',
  ];
  for (const path of paths) {
    const { status, text } = await get(path, keys.ann);
    assert.equal(status, 404, `${path}: ${text.slice(0, 200)}`);
  }
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']) {
    assert.equal((await get('/portal/api/me', keys.ann, { method })).status, 405, method);
  }
  assert.equal(
    (await get('/portal/api/me', keys.ann, { headers: { 'x-http-method-override': 'DELETE' } })).status,
    200,
  );
  const { headers } = await get('/');
  assert.equal(headers.location, '/portal/');
});

test('the headers are as strict as those of the dashboard, and no page of others may read an answer', async () => {
  const page = await get('/portal/');
  assert.match(
    String(page.headers['content-security-policy']),
    /script-src 'self'; style-src 'self'.*frame-ancestors 'none'/,
  );
  const answer = await get('/portal/api/me', keys.ann, { headers: { origin: 'https://evil.example' } });
  assert.match(String(answer.headers['content-security-policy']), /sandbox$/);
  for (const { headers } of [page, answer]) {
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['access-control-allow-origin'], undefined);
    assert.equal(headers['set-cookie'], undefined);
    assert.equal(headers.server, undefined);
  }
  assert.equal(answer.headers['cache-control'], 'no-store');
  assert.equal(answer.headers['www-authenticate'], undefined, 'no prompt of the browser');
});

test('a key is not accepted in a cookie, the query or another scheme, nor when it was deleted', async () => {
  const refused = [
    get('/portal/api/me'),
    get(`/portal/api/me?key=${keys.ann}`),
    get('/portal/api/me', null, { headers: { cookie: `key=${keys.ann}` } }),
    get('/portal/api/me', null, { headers: { 'x-key': keys.ann, apikey: keys.ann } }),
    get('/portal/api/me', null, {
      headers: { authorization: `Basic ${Buffer.from(`ann:${keys.ann}`).toString('base64')}` },
    }),
    get('/portal/api/me', null, { headers: { authorization: `Bearer ${'x'.repeat(5000)}` } }),
    get('/portal/api/me', null, { headers: { authorization: 'Bearer %E0%A4%A' } }),
  ];
  for (const { status, text } of await Promise.all(refused))
    assert.deepEqual([status, text], [401, '{"message":"The key is not valid"}']);
  const { body } = await gateway.admin('POST', '/consumers/ann/key-auth', { key: 'second key of ann, ünïcode' });
  const second = encodeURIComponent('second key of ann, ünïcode');
  assert.equal((await get('/portal/api/me', second)).status, 200);
  await gateway.admin('DELETE', `/consumers/ann/key-auth/${body['id']}`);
  assert.equal((await get('/portal/api/me', second)).status, 401);
});

test('an address that guesses is slowed down, and a right key is not', async () => {
  const guess = (at: number) => get('/portal/api/me', `guess-${at}`, { localAddress: '127.0.0.77' });
  const statuses = (await Promise.all(Array.from({ length: 30 }, (_, at) => guess(at)))).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 401).length, 10);
  const limited = await guess(99);
  assert.equal(limited.status, 429);
  assert.ok(Number(limited.headers['retry-after']) > 0);
  assert.equal((await get('/portal/api/me', keys.ann, { localAddress: '127.0.0.77' })).status, 200, 'was right before');
  assert.equal((await get('/portal/api/me', keys.bob, { headers: { 'x-forwarded-for': '127.0.0.77' } })).status, 200);
});

test('giant heads, bodies and requests without an end are cut off', async () => {
  const send = async (bytes: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', () => {});
    socket.write(bytes);
    await once(socket, 'close');
    return text;
  };
  assert.match(
    await send(`GET /portal/api/me HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(100_000)}\r\n\r\n`),
    /^HTTP\/1\.1 431 /,
  );
  assert.match(await send('nonsense\r\n\r\n'), /^HTTP\/1\.1 400 /);
  const smuggled =
    'GET /portal/api/me HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
  assert.match(await send(smuggled), /^HTTP\/1\.1 400 /);
  assert.equal((await get('/portal/api/me', keys.bob)).status, 200, 'still answers');
});

test('one consumer cannot keep the control plane busy', async () => {
  const answers = await Promise.all(Array.from({ length: 120 }, () => get('/portal/api/me', keys.bob)));
  const statuses = new Set(answers.map(({ status }) => status));
  assert.ok(statuses.has(429) || statuses.has(503), [...statuses].join());
  assert.ok(statuses.has(200));
  assert.equal((await get('/portal/api/me', keys.ann)).status, 200, 'another consumer');
});
