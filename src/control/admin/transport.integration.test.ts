import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { call, startTestAdmin, type TestAdmin } from './admin.fixture.ts';
import { answerClientError } from './http/client-error.ts';
import { createFrontedServer } from './http/fronted-server.ts';

let admin: TestAdmin;
before(async () => {
  admin = await startTestAdmin();
  await admin.call('POST', '/services', { name: 'users', host: 'a.test' });
});
after(() => admin[Symbol.asyncDispose]());

test('every answer has the server, the latency and the allowed origin', async () => {
  for (const [method, path] of [
    ['GET', '/services'],
    ['GET', '/nope'],
    ['DELETE', '/services'],
  ] as const) {
    const { headers } = await admin.call(method, path);
    assert.equal(headers['content-type'], 'application/json; charset=utf-8');
    assert.equal(headers.server, 'kong/3.9.1');
    assert.match(String(headers['x-kong-admin-latency']), /^\d+$/);
    assert.equal(headers['access-control-allow-origin'], '*');
    assert.equal(headers['access-control-allow-credentials'], 'true');
    assert.ok(headers['content-length'] !== undefined);
  }
});

test('the headers can be switched off by settings', async () => {
  await using quiet = await startTestAdmin({ settings: { headers: new Set() } });
  const { headers } = await quiet.call('GET', '/services');
  assert.equal(headers.server, undefined);
  assert.equal(headers['x-kong-admin-latency'], undefined);
});

test('unknown paths and methods are refused in plain words', async () => {
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const answer = await admin.call(method, '/unheard-of');
    assert.equal(answer.status, 404);
    assert.equal(answer.text, '{"message":"Not found"}');
  }
  for (const [method, path] of [
    ['DELETE', '/services'],
    ['PUT', '/services'],
    ['POST', '/services/users'],
    ['TRACE', '/services'],
    ['POST', '/'],
  ] as const) {
    const answer = await admin.call(method, path);
    assert.equal(answer.status, 405, `${method} ${path}`);
    assert.equal(answer.text, '{"message":"Method not allowed"}');
    const options = await admin.call('OPTIONS', path);
    assert.equal(answer.headers.allow, options.headers.allow, `${method} ${path}`);
  }
});

test('unsupported methods are refused where the path exists', async () => {
  const methods = ['PROPFIND', 'PURGE', 'QUERY', 'SEARCH', 'TRACE', 'LOCK', 'M-SEARCH'];
  for (const method of methods) {
    for (const [path, allow] of [
      ['/services', 'GET, HEAD, OPTIONS, POST'],
      ['/services/users/', 'DELETE, GET, HEAD, OPTIONS, PATCH, PUT'],
      ['/default/schemas/plugins/validate?x', 'OPTIONS, POST'],
    ] as const) {
      const answer = await admin.call(method, path);
      assert.equal(answer.status, 405, `${method} ${path}`);
      assert.equal(answer.headers.allow, allow);
      assert.equal(answer.text, '{"message":"Method not allowed"}');
    }
    assert.equal((await admin.call(method, '/nope')).status, 404);
    assert.equal((await call(admin.statusUrl, method, '/status')).headers.allow, 'GET, HEAD, OPTIONS');
  }
});

test('an unknown method gets 501, and bytes that are not a request get 400', async () => {
  const answers = { 'FOO /services HTTP/1.1': 501, 'services HTTP/1.1': 400, 'FOO /services': 400, '{"a":1}': 400 };
  for (const [line, status] of Object.entries(answers)) {
    const socket = connect(admin.port, '127.0.0.1');
    socket.end(`${line}\r\nHost: localhost\r\n\r\n`);
    const answer = Buffer.concat(await socket.toArray()).toString();
    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} [^]*\\{"message":"[A-Z][a-z ]+"\\}$`), line);
  }
});

test('paths of the enterprise edition are clean 404s', async () => {
  for (const path of ['/workspaces', '/consumer_groups', '/rbac', '/licenses', '/partials', '/kong', '/mtls-auths']) {
    const answer = await admin.call('GET', path);
    assert.equal(answer.status, 404);
    assert.deepEqual(answer.json, { message: 'Not found' });
  }
});

test('OPTIONS lists the methods of a path', async () => {
  const lists: Readonly<Record<string, string>> = {
    '/': 'GET, HEAD, OPTIONS',
    '/routes': 'GET, HEAD, OPTIONS, POST',
    '/routes/x': 'DELETE, GET, HEAD, OPTIONS, PATCH, PUT',
    '/routes/x/service': 'DELETE, GET, HEAD, OPTIONS, PATCH, PUT',
    '/upstreams/x/targets': 'GET, HEAD, OPTIONS, POST',
    '/tags': 'GET, HEAD, OPTIONS, POST',
    '/tags/x': 'GET, HEAD, OPTIONS',
    '/schemas/plugins/validate': 'OPTIONS, POST',
  };
  for (const [path, allow] of Object.entries(lists)) {
    const answer = await admin.call('OPTIONS', path);
    assert.equal(answer.status, 204);
    assert.equal(answer.text, '');
    assert.equal(answer.headers.allow, allow, path);
    assert.equal(answer.headers['access-control-allow-methods'], allow);
    assert.equal(answer.headers['access-control-allow-headers'], 'Content-Type');
  }
  const asked = await admin.call('OPTIONS', '/', undefined, { 'access-control-request-headers': 'x-a, x-b' });
  assert.equal(asked.headers['access-control-allow-headers'], 'x-a, x-b');
});

test('OPTIONS and HEAD work on every path', async () => {
  const paths = (await admin.call('GET', '/endpoints')).json['data'] as readonly string[];
  assert.ok(paths.length > 50);
  const changing = ['/', '/overview'];
  for (const pattern of paths) {
    // Streams of events have an end.
    const path = pattern.endsWith('/live') ? `${pattern}?duration=1` : pattern.replace(/\{[^}]+\}/g, 'x');
    const options = await admin.call('OPTIONS', path);
    assert.equal(options.status, 204, path);
    const offered = String(options.headers.allow).split(', ');
    assert.equal(offered.includes('HEAD'), offered.includes('GET'), path);
    const [get, head] = [await admin.call('GET', path), await admin.call('HEAD', path)];
    assert.equal(head.status, get.status, path);
    assert.equal(head.text, '');
    assert.ok(get.status < 500, `${path} ${get.text}`);
    if (!changing.includes(path)) assert.equal(head.headers['content-length'], get.headers['content-length'], path);
    if (!offered.includes('GET')) assert.equal(get.status, 405);
  }
});

test('a trailing slash and the default workspace before the path change nothing', async () => {
  const { text } = await admin.call('GET', '/services/users');
  for (const path of ['/services/users/', '/default/services/users', '/default/services/users/']) {
    assert.equal((await admin.call('GET', path)).text, text, path);
  }
  assert.equal((await admin.call('GET', '/default')).status, 200);
  assert.equal((await admin.call('GET', '/defaults/services')).status, 404);
});

test('escaped names are decoded once', async () => {
  await admin.call('POST', '/consumers', { username: 'a/b %2F?&' });
  const answer = await admin.call('GET', `/consumers/${encodeURIComponent('a/b %2F?&')}`);
  assert.equal(answer.json['username'], 'a/b %2F?&');
  assert.equal((await admin.call('GET', '/services/%zz')).status, 400);
  assert.equal((await admin.call('GET', '/services/%00')).status, 404);
  assert.equal((await admin.call('GET', `/services/${'n'.repeat(3000)}`)).status, 404);
});

test('bodies of GET and DELETE are ignored even when they are malformed', async () => {
  const type = { 'content-type': 'application/json' };
  assert.equal((await admin.call('GET', '/services', '{', type)).status, 200);
  assert.equal((await admin.call('DELETE', '/services/none', '{', type)).status, 204);
});

test('a body that cannot be read is refused before anything else', async () => {
  const cases: readonly (readonly [string, string | undefined, number, string])[] = [
    ['{', 'application/json', 400, 'Cannot parse JSON body'],
    ['', 'application/json', 400, 'Cannot parse JSON body'],
    ['null', 'application/json', 400, 'Cannot parse JSON body'],
    ['a=1', 'text/plain', 415, 'Unsupported media type'],
    ['a=1', '', 415, 'Unsupported media type'],
    ['a=1&'.repeat(1001), 'application/x-www-form-urlencoded', 400, 'Too many arguments'],
  ];
  for (const method of ['POST', 'PUT', 'PATCH']) {
    const path = method === 'POST' ? '/services' : '/services/users';
    for (const [body, type = '', status, message] of cases) {
      const answer = await admin.call(method, path, body, { 'content-type': type });
      assert.equal(answer.status, status, `${method} ${type}`);
      assert.equal(answer.json['message'], message);
    }
  }
});

test('more than 1000 query arguments are refused', async () => {
  const answer = await admin.call('GET', `/services?${'a=1&'.repeat(1001)}`);
  assert.equal(answer.status, 400);
  assert.deepEqual(answer.json, { message: 'Too many arguments' });
});

test('a body above the limit is refused, announced or not', async () => {
  await using small = await startTestAdmin({ settings: { adminClientMaxBodySize: 1000 } });
  const body = { name: 'x'.repeat(2000), host: 'a.test' };
  const answer = await small.call('POST', '/services', body);
  assert.equal(answer.status, 413);
  assert.deepEqual(answer.json, { message: 'Payload too large' });
  const chunked = await small.call('POST', '/services', body, { 'transfer-encoding': 'chunked' });
  assert.equal(chunked.status, 413);
  assert.equal((await small.call('GET', '/services')).text, '{"data":[],"next":null,"nextCursor":null}');
});

test('when a token is set, only CORS preflights are answered without it', async () => {
  await using guarded = await startTestAdmin({ settings: { adminToken: 's3cret' } });
  for (const path of ['/', '/services', '/status', '/nope', '/openapi.json']) {
    const answer = await guarded.call('GET', path);
    assert.equal(answer.status, 401, path);
    assert.deepEqual(answer.json, { message: 'Unauthorized' });
    assert.match(String(answer.headers['www-authenticate']), /^Bearer/);
  }
  const wrong = await guarded.call('POST', '/services', { host: 'a.test' }, { authorization: 'Bearer wrong' });
  assert.equal(wrong.status, 401);
  assert.equal((await guarded.call('GET', '/', undefined, { authorization: 'Bearer s3cret' })).status, 200);
  assert.equal((await guarded.call('GET', '/', undefined, { 'kong-admin-token': 's3cret' })).status, 200);
  assert.equal((await guarded.call('OPTIONS', '/services')).status, 204);
  assert.equal((await call(guarded.statusUrl, 'GET', '/status')).status, 200);
});

test('a foreign web page can neither post a form nor read, and a rebound name is refused', async () => {
  const foreign = { origin: 'http://evil.example' };
  const post = await admin.call('POST', '/services', 'name=evil&host=evil.example', foreign);
  assert.equal(post.status, 403);
  assert.equal((await admin.call('GET', '/services/evil')).status, 404);
  const get = await admin.call('GET', '/services', undefined, foreign);
  assert.equal(get.headers['access-control-allow-origin'], undefined);
  const rebound = await admin.call('GET', '/services', undefined, { host: 'evil.example:8001' });
  assert.equal(rebound.status, 403);
  const page = { origin: admin.url };
  const own = await admin.call('GET', '/services', undefined, page);
  assert.equal(own.headers['access-control-allow-origin'], page.origin);
});

test('each request leaves one line of access log', async () => {
  const count = admin.accessLog.length;
  await admin.call('GET', '/services/users?x=1', undefined, { 'user-agent': 'test/1', referer: 'http://r' });
  while (admin.accessLog.length === count) await new Promise(setImmediate);
  const entry = admin.accessLog.at(-1)!;
  assert.ok(Math.abs(Date.now() - entry.time) < 10_000);
  assert.ok(entry.duration >= 0 && entry.duration < 10_000);
  assert.match(entry.requestId, /^[0-9a-f]{32}$/);
  assert.ok(entry.bodyBytesSent > 100);
  const { remoteAddr, method, url, httpVersion, scheme, status, localPort } = entry;
  assert.deepEqual(
    { remoteAddr, method, url, httpVersion, scheme, status, localPort },
    {
      remoteAddr: '127.0.0.1',
      method: 'GET',
      url: '/services/users?x=1',
      httpVersion: '1.1',
      scheme: 'http',
      status: 200,
      localPort: admin.port,
    },
  );
  assert.deepEqual(
    [entry.header('referer'), entry.header('user-agent'), entry.header('x-none'), entry.sentHeader('content-type')],
    ['http://r', 'test/1', null, 'application/json; charset=utf-8'],
  );
});

test('the status API has an access log of its own', async () => {
  const [count, other] = [admin.statusLog.length, admin.accessLog.length];
  await call(admin.statusUrl, 'GET', '/status');
  while (admin.statusLog.length === count) await new Promise(setImmediate);
  assert.equal(admin.statusLog.at(-1)?.url, '/status');
  assert.equal(admin.accessLog.length, other);
});

test('bytes that are not HTTP are refused, and the listener continues', async () => {
  const socket = connect(admin.port, '127.0.0.1');
  socket.end('nonsense\r\n\r\n');
  const answer = Buffer.concat(await socket.toArray()).toString();
  assert.match(answer, /^HTTP\/1\.1 400 /);
  assert.equal((await admin.call('GET', '/')).status, 200);
});

test('a failing store is a plain 500 for the client, with its cause in the log', async () => {
  await using broken = await startTestAdmin();
  const file = new DatabaseSync(join(broken.deps.settings.prefix, 'store.sqlite'));
  file.exec('drop table services');
  file.close();
  for (const [method, path, body] of [
    ['GET', '/services', undefined],
    ['POST', '/services', { host: 'a.test' }],
  ] as const) {
    const answer = await broken.call(method, path, body);
    assert.equal(answer.status, 500);
    assert.deepEqual(answer.json, { message: 'An unexpected error occurred' });
  }
  assert.equal(broken.errors.length, 2);
  assert.ok(broken.errors[0]?.cause instanceof Error);
});

test('bytes that are no request are answered, but not within an answer that has begun', async () => {
  const server = createFrontedServer({
    https: undefined,
    routes: (request, response) => {
      request.resume();
      response.writeHead(200, { 'content-length': 100 }).write('begun');
    },
  });
  server.on('clientError', answerClientError);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const alone = connect(port, '127.0.0.1');
    alone.write('nonsense\r\n\r\n');
    assert.match(await text(alone), /^HTTP\/1\.1 400 Bad Request\r\n.*\{"message":"Bad request"\}$/s);

    const begun = connect(port, '127.0.0.1');
    begun.write('POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n');
    let answer = '';
    begun.setEncoding('latin1').on('data', (piece: string) => {
      answer += piece;
      if (piece.endsWith('begun')) begun.write('no chunk\r\n');
    });
    begun.on('error', () => {});
    await once(begun, 'close');
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n.*\r\n\r\nbegun$/s);
  } finally {
    server.close();
  }
});
