import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClient } from '../../plugin-testing/test-client.ts';
import { type TestRequest, testExchange } from '../../plugin-testing/test-exchange.ts';
import { privateMeter } from '../../shared/zones/plugin-meter.ts';
import { buildPlan } from '../plugin-runner/build-plan.ts';
import type { Exchange } from '../request/exchange.ts';
import { RequestContext } from '../request/request-context.ts';
import { HeaderEdits } from './header-edits.ts';

function exchangeOf(request: TestRequest = {}): Exchange {
  return testExchange(request, buildPlan([]), new TestClient());
}

function recordOf(exchange: Exchange) {
  return new RequestContext(exchange).record() as Record<string, unknown> & {
    request: Record<string, unknown> & { headers: Record<string, unknown> };
    response: Record<string, unknown> & { headers: Record<string, unknown> };
    latencies: Record<string, number>;
  };
}

/** As if the backend at 10.0.0.1 had answered. */
function served(exchange: Exchange): Exchange {
  exchange.upstreamUri = '/b?x=1';
  exchange.target = { id: 't', host: 'a.test', ip: null, port: 80, weight: 100, slot: 0 };
  exchange.targetIp = '10.0.0.1';
  exchange.tries = 1;
  exchange.attemptStartedMono = exchange.startedMono + (1_700_000_000_000.75 - exchange.startedAt);
  exchange.targetPort = 80;
  exchange.upstreamStartedMono = exchange.startedMono + 3;
  exchange.firstByteMono = exchange.startedMono + 10;
  exchange.upstreamStatus = 200;
  exchange.status = 200;
  exchange.responseSource = 'upstream';
  exchange.responseBlock = 'Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-One: 1\r\n';
  return exchange;
}

test('a proxied request is logged in the format of Kong', () => {
  const exchange = served(
    exchangeOf({
      path: '/a?x=1&x=2&flag',
      headers: { 'X-One': ['1', '2'], 'User-Agent': 'curl' },
      clientIp: '192.0.2.7',
    }),
  );
  const record = recordOf(exchange);
  assert.deepEqual(
    {
      ...record.request,
      headers: { ...record.request.headers },
      querystring: { ...(record.request['querystring'] as object) },
    },
    {
      id: exchange.id,
      uri: '/a?x=1&x=2&flag',
      url: 'http://test.example:8000/a?x=1&x=2&flag',
      querystring: { x: ['1', '2'], flag: true },
      method: 'GET',
      headers: { host: 'test.example', 'x-one': ['1', '2'], 'user-agent': 'curl' },
      size: Buffer.byteLength(
        'GET /a?x=1&x=2&flag HTTP/1.1\r\nHost: test.example\r\nX-One: 1\r\nX-One: 2\r\nUser-Agent: curl\r\n\r\n',
      ),
    },
  );
  assert.deepEqual({ ...record.response.headers }, { 'set-cookie': ['a=REDACTED', 'b=REDACTED'], 'x-one': '1' });
  assert.equal(record.response['status'], 200);
  assert.equal(record['upstream_uri'], '/b?x=1');
  assert.equal(record['upstream_status'], '200');
  assert.deepEqual(record['tries'], [
    { balancer_start: 1_700_000_000_000, balancer_start_ns: 1_700_000_000_000_000_000, ip: '10.0.0.1', port: 80 },
  ]);
  assert.deepEqual([record.latencies['kong'], record.latencies['proxy']], [3, 7]);
  assert.ok((record.latencies['request'] ?? -1) >= 0 && 'receive' in record.latencies);
  assert.equal(record['client_ip'], '192.0.2.7');
  assert.equal(record['started_at'], exchange.startedAt);
  assert.equal(record['source'], 'upstream');
  assert.deepEqual(record['route'], { id: exchange.route?.id, name: 'test-route', paths: ['/'] });
  assert.deepEqual((record['service'] as { name: string }).name, 'test-service');
  for (const key of ['consumer', 'authenticated_entity', 'correlation_id']) assert.equal(key in record, false);
});

test('header values in UTF-8 are logged as text, other bytes one by one, and targets percent-encoded', () => {
  const bytes = (text: string) => Buffer.from(text).toString('latin1');
  const exchange = served(exchangeOf({ path: bytes('/grün'), headers: { 'X-Name': [bytes('ä€'), '\xff\xfe'] } }));
  exchange.responseBlock = `X-City: ${bytes('Zürich')}\r\n`;
  const { request, response } = recordOf(exchange);
  assert.deepEqual([request['uri'], request['url']], ['/gr%C3%BCn', 'http://test.example:8000/gr%C3%BCn']);
  assert.deepEqual([request.headers['x-name'], response.headers['x-city']], [['ä€', '\xff\xfe'], 'Zürich']);
});

test('credentials in headers are not logged', () => {
  const { headers } = recordOf(
    exchangeOf({ headers: { Authorization: 'Basic c2VjcmV0', 'Proxy-Authorization': ['secret', 'secret2'] } }),
  ).request;
  assert.equal(headers['authorization'], 'REDACTED');
  assert.equal(headers['proxy-authorization'], 'REDACTED');
});

test('failed attempts come first, and their statuses are listed', () => {
  const exchange = served(exchangeOf());
  exchange.failedAttempts = [{ startedAt: 5, ip: '10.0.0.9', port: 80, failed: 502 }];
  exchange.tries = 2;
  const record = recordOf(exchange);
  assert.equal(record['upstream_status'], '502, 200');
  assert.deepEqual((record['tries'] as { ip: string; state?: string; code?: number }[])[0], {
    balancer_start: 5,
    balancer_start_ns: 5_000_000,
    ip: '10.0.0.9',
    port: 80,
    state: 'failed',
    code: 502,
  });
  assert.equal((record['tries'] as unknown[]).length, 2);
});

test('a refused request has no attempts and no time at a backend', () => {
  const exchange = exchangeOf();
  exchange.status = 403;
  const record = recordOf(exchange);
  assert.deepEqual([record['tries'], record['upstream_status'], record.latencies['proxy']], [[], '', -1]);
  assert.equal(record['source'], 'kong');
});

test('a request without a route has neither route, service nor attempts', () => {
  const record = recordOf(exchangeOf({ routed: false }));
  for (const key of ['route', 'service', 'tries']) assert.equal(key in record, false);
});

test('the consumer is logged without missing fields, the credential only by its two ids', () => {
  const exchange = exchangeOf();
  exchange.consumer = { id: 'c1', username: 'anna', customId: null, tags: [] };
  exchange.credential = { id: 'k1', identifier: 'secret-name' };
  const record = recordOf(exchange);
  assert.deepEqual(record['consumer'], { id: 'c1', username: 'anna' });
  assert.deepEqual(record['authenticated_entity'], { id: 'k1', consumer_id: 'c1' });
  assert.deepEqual([record['workspace'], record['workspace_name']], ['default', 'default']);
});

test('a TLS request is logged with version and cipher', () => {
  const tls = recordOf(exchangeOf({ scheme: 'https' })).request['tls'];
  assert.deepEqual(tls, { version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384', client_verify: 'NONE' });
});

test('the headers of the answer are logged after the changes of plugins', () => {
  const exchange = served(exchangeOf());
  exchange.responseEdits = new HeaderEdits();
  exchange.responseEdits.set('X-One', 'changed');
  assert.equal(recordOf(exchange).response.headers['x-one'], 'changed');
});

test('fields that plugins add are in the record, before and after it was made, and it is made once', () => {
  const context = new RequestContext(exchangeOf());
  context.log('first', 1);
  const record = context.record();
  context.log('second', 2);
  assert.deepEqual([record['first'], record['second']], [1, 2]);
  assert.equal(context.record(), record);
});

test('values of credentials are not logged', () => {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const needs = { secrets: { queryArguments: ['My-Key'], headers: ['My-Key', 'Cookie', 'Set-Cookie'] } };
  const instance = {
    id: 'i',
    name: 'auth',
    priority: 1,
    phases: {},
    needs,
    log,
    lease: null,
    meter: privateMeter(),
    budget: null,
    mark: 0,
  };
  const headers = { 'My-Key': 's3cret', Cookie: 'session=s3cret', Authorization: 'Basic s3cret', 'X-One': '1' };
  const request = { path: '/a?my-key=s3cret&x=1&access_token=s3cret', headers };
  const exchange = served(testExchange(request, buildPlan([instance]), new TestClient()));
  exchange.upstreamUri = '/b?my-key=s3cret&x=1';
  exchange.responseBlock = 'Set-Cookie: session=s3cret\r\n';
  const record = recordOf(exchange);
  assert.doesNotMatch(JSON.stringify(record), /s3cret/);
  assert.equal(record.request['uri'], '/a?my-key=REDACTED&x=1&access_token=REDACTED');
  assert.equal(record.request.headers['my-key'], 'REDACTED');
  assert.equal(record.request.headers['x-one'], '1');
  assert.equal(record['upstream_uri'], '/b?my-key=REDACTED&x=1');
});

test('sessions and tokens in redirects of answers are not logged', () => {
  const exchange = served(exchangeOf());
  exchange.responseBlock = [
    'Set-Cookie: sid=s3cret; Path=/',
    'Set-Cookie: s3cret',
    'Set-Cookie: s3cret; Max-Age=1',
    'Location: https://ada:s3cret@app.test/done?id_token=s3cret&page=2#access_token=s3cret&state=x',
    'Content-Location: //ada:s3cret@h/a@b#/done?access_token=s3cret',
    '',
  ].join('\r\n');
  const { headers } = recordOf(exchange).response;
  assert.deepEqual(
    { ...headers },
    {
      'set-cookie': ['sid=REDACTED', 'REDACTED', 'REDACTED'],
      location: 'https://REDACTED@app.test/done?id_token=REDACTED&page=2#access_token=REDACTED&state=x',
      'content-location': '//REDACTED@h/a@b#/done?access_token=REDACTED',
    },
  );
});

test('a key in the conditions of a route is masked like the one in a request', () => {
  const exchange = served(exchangeOf({ headers: { 'X-Api-Key': 's3cret' } }));
  const route = exchange.route as NonNullable<Exchange['route']>;
  const headers = { 'X-Api-Key': ['s3cret', 's3cret2'], 'X-Auth_Token': ['s3cret'], 'X-Tenant': ['a'] };
  exchange.route = { ...route, row: { ...route.row, headers } };
  const record = recordOf(exchange);
  assert.doesNotMatch(JSON.stringify(record), /s3cret/);
  const shown = record['route'] as { readonly headers: unknown; readonly name: string };
  assert.deepEqual(shown.headers, {
    'X-Api-Key': ['REDACTED', 'REDACTED'],
    'X-Auth_Token': ['REDACTED'],
    'X-Tenant': ['a'],
  });
  assert.equal(shown.name, 'test-route');
  assert.equal(recordOf(exchange)['route'], shown);
});
