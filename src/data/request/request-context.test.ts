import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClient } from '../../plugin-testing/test-client.ts';
import { type TestRequest, testExchange } from '../../plugin-testing/test-exchange.ts';
import { buildPlan } from '../plugin-runner/build-plan.ts';
import { RequestContext } from './request-context.ts';

function contextOf(request: TestRequest = {}) {
  const exchange = testExchange(request, buildPlan([]), new TestClient());
  return { exchange, context: new RequestContext(exchange) };
}

test('the request is read as the client sent it', () => {
  const { request } = contextOf({
    method: 'PUT',
    path: '/a/%2e%2e/b%20c?x=1',
    headers: { Host: 'API.Example.com:8080', 'X-One': ['1', '2'] },
  }).context;
  assert.equal(request.method, 'PUT');
  assert.equal(request.scheme, 'http');
  assert.equal(request.host, 'api.example.com');
  assert.equal(request.port, 8000);
  assert.equal(request.path, '/b c');
  assert.equal(request.rawPath, '/a/%2e%2e/b%20c');
  assert.equal(request.query, 'x=1');
  assert.equal(request.httpVersion, '1.1');
  assert.match(request.id, /^[0-9a-f]{32}$/);
  assert.equal(request.header('X-ONE'), '1');
  assert.equal(request.header('x-two'), null);
  assert.deepEqual(request.headerValues('x-one'), ['1', '2']);
  assert.deepEqual({ ...request.headers() }, { host: ['API.Example.com:8080'], 'x-one': ['1', '2'] });
});

test('query arguments are decoded, whatever they hold', () => {
  const { request } = contextOf({ path: '/?a=1&a=2&b&c=&%C3%A9=%zz+%41&__proto__=x&=y&&bad=%ff' }).context;
  assert.deepEqual(request.queryArguments()['a'], ['1', '2']);
  assert.equal(request.queryArgument('b'), '');
  assert.equal(request.queryArgument('c'), '');
  assert.equal(request.queryArgument('é'), '%zz A');
  assert.equal(request.queryArgument('__proto__'), 'x');
  assert.equal(request.queryArgument(''), 'y');
  assert.equal(request.queryArgument('bad'), '\ufffd');
  assert.equal(request.queryArgument('constructor'), null);
});

test('captures are available by number and by name, without those that did not match', () => {
  const { exchange, context } = contextOf();
  exchange.captures = /^\/(?<user>\d+)(x)?\/(.+)$/.exec('/42/rest');
  assert.deepEqual({ ...context.request.uriCaptures() }, { 1: '42', 3: 'rest', user: '42' });
  assert.deepEqual({ ...contextOf().context.request.uriCaptures() }, {});
});

test('the client, its connection, the route and the service are named', () => {
  const { context } = contextOf({ clientIp: '192.0.2.7', scheme: 'https' });
  assert.deepEqual([context.client.ip, context.client.peerIp, context.client.port], ['192.0.2.7', '192.0.2.7', 50000]);
  assert.deepEqual([context.connection.localPort, context.connection.serial], [8443, 1]);
  assert.deepEqual([context.route?.name, context.service?.name], ['test-route', 'test-service']);
  assert.equal(context.client.consumer, null);
});

test('a path for the backend is escaped, so that it can add neither a query nor a line', () => {
  const { exchange, context } = contextOf();
  context.upstream.setPath('/a b/?x#y\r\nHost: evil/%41%');
  assert.equal(exchange.upstreamPath, '/a%20b/%3Fx%23y%0D%0AHost:%20evil/%41%25');
  assert.throws(() => context.upstream.setPath('relative'), /must begin with a slash/);
  assert.throws(() => context.upstream.setPath('http://evil/'), /must begin with a slash/);
});

test('a path for the backend never starts with //', () => {
  const { exchange, context } = contextOf();
  context.upstream.setPath('///evil.test//x');
  assert.equal(exchange.upstreamPath, '/evil.test//x');
  context.upstream.setPathInService('//evil.test');
  assert.equal(exchange.pathInService, '/evil.test');
});

test('a path below that of the service starts as the remaining path of the route; the last of two ways to set it counts', () => {
  const { exchange, context } = contextOf({ path: '/api/x%2Fy' });
  exchange.matchedPath = '/api';
  const { upstream } = context;
  assert.equal(upstream.pathInService, '/x%2Fy');
  assert.equal(upstream.changes, '');
  upstream.setPathInService('/other');
  assert.equal(upstream.pathInService, '/other');
  assert.match(upstream.changes, /other/);
  upstream.setPath('/whole');
  assert.equal(exchange.upstreamPath, '/whole');
  upstream.setPathInService('/again');
  assert.deepEqual([exchange.upstreamPath, exchange.pathInService], [null, '/again']);
  assert.throws(() => upstream.setPathInService('relative'), /must begin with a slash/);
});

test('a query for the backend is escaped', () => {
  const { exchange, context } = contextOf({ path: '/?own' });
  assert.equal(context.upstream.query(), 'own');
  context.upstream.setQuery('a=b c&d=\r\nX: y&e=#f&g=?');
  assert.equal(exchange.upstreamQuery, 'a=b%20c&d=%0D%0AX:%20y&e=%23f&g=?');
  assert.equal(context.upstream.query(), exchange.upstreamQuery);
});

test('query arguments are removed, and all other bytes are unchanged', () => {
  const { exchange, context } = contextOf({ path: '/?a=%41+b&key=1&&c&k%65y=2&d=%zz&k2' });
  context.upstream.removeQueryArguments(new Set(['none']));
  assert.equal(exchange.upstreamQuery, null);
  context.upstream.removeQueryArguments(new Set(['key']));
  assert.equal(exchange.upstreamQuery, 'a=%41+b&&c&d=%zz&k2');
  context.upstream.removeQueryArguments(new Set(['k2', 'a']));
  assert.equal(exchange.upstreamQuery, '&c&d=%zz');
});

test('a body is replaced only when it has been read', () => {
  const { exchange, context } = contextOf({ method: 'POST', body: 'abc' });
  assert.throws(() => context.upstream.setBody(Buffer.from('x')), /once it has been read/);
  exchange.requestBody = Buffer.from('abc');
  context.upstream.setBody(Buffer.from('x'));
  assert.equal(String(exchange.requestBody), 'x');
});

test('a method for the backend must be valid', () => {
  const { exchange, context } = contextOf();
  context.upstream.setMethod('PATCH');
  assert.equal(exchange.upstreamMethod, 'PATCH');
  for (const method of ['', 'GET ', 'get', 'GET / HTTP/1.1\r\n', 'CONNECT']) {
    assert.throws(() => context.upstream.setMethod(method), /not a method/);
  }
});

for (const name of [
  'Content-Length',
  'transfer-encoding',
  'Connection',
  'TE',
  'Trailer',
  'Upgrade',
  'Keep-Alive',
  'Content_Length',
]) {
  test(`the framing header ${name} cannot be set, and removing it does nothing`, () => {
    const { exchange, context } = contextOf();
    for (const edit of [context.upstream, context.response]) {
      assert.throws(() => edit.setHeader(name, '1'), /gateway's own/);
      assert.throws(() => edit.addHeader(name, '1'), /gateway's own/);
      edit.removeHeader(name);
    }
    assert.equal(exchange.requestEdits?.isEmpty ?? true, true);
    assert.equal(exchange.responseEdits?.isEmpty ?? true, true);
  });
}

test('a request keeps exactly one Host', () => {
  const { exchange, context } = contextOf();
  context.upstream.removeHeader('Host');
  assert.throws(() => context.upstream.addHeader('Host', 'b'), /one Host/);
  context.upstream.setAbsentHeader('host', 'c.test');
  context.upstream.setHeader('Host', 'b.test');
  assert.equal(exchange.requestEdits?.applyTo('Host: a.test\r\n'), 'Host: b.test\r\n');
});

test('the answer is read with the changes made so far', () => {
  const { exchange, context } = contextOf();
  exchange.status = 200;
  exchange.responseBlock = 'X-One: 1\r\nX-Two: 2\r\n';
  context.response.setHeader('X-One', '9');
  context.response.addHeader('X-Two', '3');
  context.response.setStatus(201);
  assert.equal(context.response.header('x-one'), '9');
  assert.deepEqual(context.response.headerValues('X-Two'), ['2', '3']);
  assert.deepEqual({ ...context.response.headers() }, { 'x-two': ['2', '3'], 'x-one': ['9'] });
  assert.equal(exchange.status, 201);
  for (const status of [101, 600, 200.5]) assert.throws(() => context.response.setStatus(status), /not a final status/);
});

test('an empty request body needs no declaration', async () => {
  assert.equal((await contextOf().context.body()).byteLength, 0);
  await assert.rejects(contextOf({ method: 'POST', body: 'x' }).context.body(), /does not declare/);
});
