import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClient } from '../../plugin-testing/test-client.ts';
import { type TestRequest, testExchange } from '../../plugin-testing/test-exchange.ts';
import { parseLogFormat } from '../../shared/settings/kinds/log-format.ts';
import { httpFormats } from '../../shared/settings/kinds/log-formats.ts';
import { logVariables } from '../../shared/settings/kinds/log-variables.ts';
import { buildPlan } from '../plugin-runner/build-plan.ts';
import type { Exchange } from '../request/exchange.ts';
import { exchangeFormatter } from './access-lines.ts';
import { exchangeVariable } from './access-variables.ts';

const plan = buildPlan([]);

function exchangeOf(request: TestRequest = {}): Exchange {
  return testExchange(request, plan, new TestClient());
}

function lineOf(x: Exchange, text: string): string {
  return exchangeFormatter(parseLogFormat('f', `x '${text}'`, httpFormats))(x);
}

/** As if the backend at 10.0.0.1 had answered. */
function served(x: Exchange): Exchange {
  x.upstreamUri = '/b?token=1';
  x.target = { id: 't', host: 'a.test', ip: null, port: 80, weight: 100, slot: 0 };
  x.targetIp = '10.0.0.1';
  x.targetPort = 80;
  x.tries = 1;
  x.attemptStartedMono = x.startedMono;
  x.upstreamStartedMono = x.startedMono;
  x.firstByteMono = x.startedMono + 10;
  x.upstreamStatus = 200;
  x.status = 200;
  x.responseSource = 'upstream';
  x.responseBlock = 'Set-Cookie: a=1\r\nX-One: 1\r\n';
  return x;
}

test('every variable has a value for every exchange', () => {
  for (const name of [...logVariables, 'arg_x', 'http_x', 'sent_http_x', 'upstream_http_x']) {
    for (const x of [exchangeOf(), served(exchangeOf()), exchangeOf({ routed: false })]) {
      const value = exchangeVariable(name).read(x);
      assert.ok(value === null || typeof value === 'string', name);
      if (exchangeVariable(name).clean === true) assert.match(value ?? '', /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/, name);
    }
  }
});

test('a route or service without a name is logged by its id, so that it differs from no route', () => {
  const x = exchangeOf();
  const text = '$route $service $consumer';
  x.consumer = { id: 'c1', username: null, customId: 'crm-7', tags: [] };
  assert.equal(lineOf(x, text), 'test-route test-service crm-7');
  x.consumer = { id: 'c1', username: 'ada', customId: 'crm-7', tags: [] };
  x.route = { ...x.route!, name: null };
  assert.equal(lineOf(x, text), `${x.route.id} test-service ada`);
  assert.equal(lineOf(exchangeOf({ routed: false }), text), '- - -');
});

test('variables of the request', () => {
  const x = exchangeOf({
    method: 'PUT',
    path: '/a%20b?Page=2&q',
    clientIp: '192.0.2.7',
    headers: { Host: 'A.test:80' },
  });
  assert.equal(
    lineOf(
      x,
      '$remote_addr $request_method $request_uri $args $is_args $arg_page [$arg_q] [$arg_z] $host $server_protocol',
    ),
    '192.0.2.7 PUT /a%20b?Page=2&q Page=2&q ? 2 [-] [-] a.test HTTP/1.1',
  );
  assert.equal(lineOf(x, '$request'), 'PUT /a%20b?Page=2&q HTTP/1.1');
  assert.equal(lineOf(x, '$kong_request_id $request_id'), `${x.id} ${x.id}`);
});

test('secrets are masked in every variable', () => {
  const x = served(
    exchangeOf({
      path: '/a?apikey=s3cret&b=1',
      headers: { Authorization: 'Bearer s3cret', Cookie: 'sid=s3cret', Referer: 'http://r/?token=s3cret' },
    }),
  );
  const names = ['request', 'request_uri', 'args', 'arg_apikey', 'http_authorization', 'http_cookie', 'http_referer'];
  x.responseBlock += 'Location: /#token=s3cret\r\n';
  const all = [...names, 'sent_http_location', 'sent_http_set_cookie', 'upstream_http_set_cookie', 'upstream_uri'];
  const line = lineOf(x, all.map((name) => `$${name}`).join(' | '));
  assert.ok(!line.includes('s3cret'), line);
  assert.equal(line.split(' | ').filter((field) => field.includes('REDACTED')).length, all.length);
});

test('variables of backends list the attempts in order', () => {
  const text = '$upstream_addr $upstream_status $upstream_tries';
  assert.equal(lineOf(exchangeOf(), text), '- - 0');
  assert.equal(lineOf(served(exchangeOf()), text), '10.0.0.1:80 200 1');
  assert.match(lineOf(served(exchangeOf()), '$upstream_header_time $upstream_response_time'), /^0\.010 \d+\.\d{3}$/);
  const retried = served(exchangeOf());
  retried.targetIp = '::1';
  retried.failAttempt(502);
  retried.targetIp = '10.0.0.2';
  retried.tries = 2;
  assert.equal(lineOf(retried, text), '[::1]:80, 10.0.0.2:80 502, 200 2');
  assert.match(lineOf(retried, '$upstream_response_time'), /^\d+\.\d{3}, \d+\.\d{3}$/);
});

test('the user is the authenticated one', () => {
  const consumer = { id: 'c', username: 'ada', customId: null, tags: [] };
  const user = (headers: Record<string, string>, credential: Exchange['credential'], who: Exchange['consumer']) => {
    const x = exchangeOf({ headers });
    x.credential = credential;
    x.consumer = who;
    return lineOf(x, '$remote_user');
  };
  const claimed = { Authorization: `Basic ${Buffer.from('eve:x').toString('base64')}` };
  assert.equal(user(claimed, null, null), '-');
  assert.equal(user({}, null, consumer), '-');
  assert.equal(user({}, { id: 'k', identifier: 'k' }, consumer), 'ada');
  assert.equal(user(claimed, { id: 'k', identifier: 'ada l.' }, consumer), 'ada\\x20l.');
  assert.equal(user({}, { id: null, identifier: 'uid=é' }, null), 'uid=\\xC3\\xA9');
});

test('fields of the head are kept for the connection, and never used for another head', () => {
  const format = exchangeFormatter(parseLogFormat('f', `x '"$http_user_agent" "$http_x"'`, httpFormats));
  const first = exchangeOf({ headers: { 'User-Agent': 'a', X: '1' } });
  assert.equal(format(first), '"a" "1"');
  const again = exchangeOf({ headers: { 'User-Agent': 'a', X: '2' } });
  again.peer.logged = first.peer.logged;
  assert.equal(format(again), '"a" "2"');
  const same = exchangeOf({ headers: { 'User-Agent': 'a', X: '2' } });
  same.peer.logged = { block: same.head.block, plan, text: 'remembered' };
  assert.equal(format(same), 'remembered"');
});
