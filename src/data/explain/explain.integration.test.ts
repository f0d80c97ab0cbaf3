import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openHttp2 } from '../../../test/support/http2-client.ts';
import { answer, answerEach } from '../../../test/support/raw-backend.ts';
import { exchangeOne, openClient } from '../../../test/support/raw-client.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';
import { until } from '../../../test/support/until.ts';

/** Requests with the debug token, through a gateway. */

// biome-ignore lint/suspicious/noExplicitAny: the document is read member by member.
type Document = any;

let rig: Rig;
let token: string;

before(async () => {
  rig = await startRig({
    env: { KONG_PROXY_LISTEN: '127.0.0.1:0 http2', KONG_TRUSTED_IPS: '127.0.0.2' },
    script: answerEach(({ target, method, connection }) => {
      if (target.includes('/big')) return answer('x'.repeat(3_000_000));
      if (target.includes('/cached'))
        return answer('kept', 'Cache-Control: max-age=60\r\nContent-Type: text/plain\r\n');
      if (target.includes('/part')) return answer(`{"of":"${target}"}`, 'Content-Type: application/json\r\n');
      if (target.includes('/silent')) return null;
      if (target.includes('/torn')) {
        connection.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc');
        return null;
      }
      return answer(
        method === 'HEAD' ? '' : `served ${target}`,
        'Set-Cookie: sid=top-secret; Path=/\r\nX-Own: yes\r\n',
      );
    }),
  });
  token = readFileSync(join(rig.gateway.prefix, 'request_debug_token'), 'utf8').trim();
  await rig.write('PUT', '/services/backend/routes/users', {
    hosts: ['x.test'],
    paths: ['/users', '~/people/(?<id>\\d+)$'],
    methods: ['GET', 'HEAD', 'POST'],
    strip_path: false,
  });
  await rig.write('PUT', '/services/backend/routes/tenant', {
    paths: ['/t'],
    headers: { 'X-Api-Key': ['route-secret'] },
  });
  await rig.write('PUT', '/services/backend/routes/locked', { paths: ['/locked'] });
  await rig.write('POST', '/routes/locked/plugins', { name: 'key-auth' });
  await rig.write('POST', '/routes/locked/plugins', { name: 'rate-limiting', config: { minute: 1000 } });
  await rig.write('POST', '/services/backend/plugins', {
    name: 'request-size-limiting',
    config: { allowed_payload_size: 1 },
  });
  await rig.write('POST', '/plugins', { name: 'correlation-id' });
  const ann = await rig.write('PUT', '/consumers/ann');
  await rig.write('POST', '/consumers/ann/key-auth', { key: 'key-of-ann' });
  await rig.write('POST', '/plugins', {
    name: 'request-transformer',
    consumer: { id: ann['id'] },
    config: { add: { headers: ['X-Backend-Key: backend-secret'], querystring: ['added:1'] } },
  });
});
after(() => rig.close());

async function ask(
  path: string,
  headers: Readonly<Record<string, string>> = {},
  init: { readonly method?: string; readonly body?: string } = {},
): Promise<Response> {
  return await fetch(rig.gateway.proxyUrl + path, {
    ...init,
    headers: { connection: 'close', 'x-sluicegate-debug-token': token, 'x-sluicegate-explain': '1', ...headers },
  });
}

/** `host`: `fetch` cannot set it. */
async function explained(
  path: string,
  lines: readonly string[] = [],
  host = 'x.test',
  method = 'GET',
): Promise<Document> {
  const all = [`Host: ${host}`, `X-Sluicegate-Debug-Token: ${token}`, ...lines, 'Connection: close'];
  if (!lines.some((line) => line.startsWith('X-Sluicegate-Explain'))) all.push('X-Sluicegate-Explain: 1');
  const answered = await exchangeOne(rig.port, `${method} ${path} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n`);
  assert.equal(answered.status, 200);
  assert.equal(answered.get('cache-control'), 'no-store');
  return JSON.parse(answered.body);
}

test('a request that is proxied: the matched route, the plugins that ran, the backend', async () => {
  const backendSaw = rig.backend.requests.length;
  const document = await explained('/locked/../locked/a?apikey=key-of-ann&q=1', [], 'other.test');
  assert.equal(document.carried_out, true);
  assert.match(
    document.summary,
    /^GET \/locked\/\.\.\/locked\/a matched the route locked and was answered 200 .* by the backend at 127/,
  );
  assert.equal(document.request.path, '/locked/a');
  assert.equal(document.request.path_as_sent, '/locked/../locked/a');
  assert.equal(document.request.query, 'apikey=REDACTED&q=1');
  assert.match(document.request.client.because, /not one of trusted_ips/);
  assert.equal(document.router.matched.name, 'locked');
  assert.deepEqual(document.router.matched.conditions, [
    { condition: 'path', wanted: ['/locked'], got: ['/locked/a'] },
  ]);
  assert.deepEqual(
    document.router.others.map((one: Document) => [one.name, one.failed?.condition ?? one.but]),
    [
      ['all', 'its path has 1 character, not 7'],
      ['users', 'host'],
      ['tenant', 'path'],
    ],
  );
  assert.equal(document.service.name, 'backend');
  assert.equal(document.consumer.username, 'ann');
  assert.deepEqual(
    document.plugins.map((one: Document) => [one.name, one.scope.join(), one.ran]),
    [
      ['correlation-id', 'global', true],
      ['key-auth', 'route', true],
      ['request-size-limiting', 'service', true],
      ['rate-limiting', 'route', true],
      ['request-transformer', 'consumer', true],
    ],
  );
  const changed = (name: string) =>
    document.plugins.find((one: Document) => one.name === name).phases.flatMap((phase: Document) => phase.changed);
  assert.deepEqual(changed('key-auth'), ['consumer ann']);
  assert.deepEqual(changed('request-transformer'), ['query for the backend', 'request header x-backend-key set']);
  assert.equal(changed('rate-limiting').length, 1);
  assert.match(document.upstream_request.uri, /^\/a\?apikey=REDACTED&q=1&added=1$/);
  const [attempt] = document.attempts;
  assert.equal(attempt.address, `127.0.0.1:${rig.backend.port}`);
  assert.equal(attempt.status, 200);
  assert.ok(attempt.ms > 0);
  assert.deepEqual([document.answer.status, document.answer.by, document.answer.complete], [200, 'backend', true]);
  assert.equal(document.answer.headers['x-own'], 'yes');
  assert.equal(document.answer.headers['set-cookie'], 'sid=REDACTED');
  const what = document.timeline.map((moment: Document) => moment.what);
  for (const one of ['router', 'plugin key-auth access', 'attempt', 'end']) assert.ok(what.includes(one), one);
  assert.ok(
    document.timeline.every(({ at }: Document, index: number) => at >= (document.timeline[index - 1]?.at ?? 0)),
  );
  // It has really been sent.
  assert.equal(rig.backend.requests.length, backendSaw + 1);
  const text = JSON.stringify(document);
  for (const secret of [token, 'key-of-ann', 'backend-secret', 'top-secret']) assert.ok(!text.includes(secret), secret);
});

test('a request without a route is shown the nearest routes, and keys in route conditions stay hidden', async () => {
  await rig.write('PATCH', '/routes/all', { hosts: ['nowhere.test'] });
  const document = await explained('/t/1', ['X-Api-Key: mine'], 'x.test');
  await rig.write('PATCH', '/routes/all', { hosts: null });
  assert.match(document.summary, /^GET \/t\/1 matched no route, and was answered 404/);
  assert.equal(document.router.matched, null);
  assert.equal(document.answer.error.code, 'NO_ROUTE');
  assert.deepEqual(
    document.router.others.find((one: Document) => one.name === 'tenant'),
    {
      id: document.router.others.find((one: Document) => one.name === 'tenant').id,
      name: 'tenant',
      paths: ['/t'],
      service: 'backend',
      matches_too: false,
      failed: { condition: 'header', header: 'X-Api-Key', wanted: ['REDACTED'], got: ['REDACTED'] },
      more_failures: 0,
      met: ['path'],
    },
  );
  assert.ok(document.plugins.every((one: Document) => !one.ran && one.because === 'no route matched'));
});

test('a rejected request names the plugin, and those that did not run after it', async () => {
  const document = await explained('/locked');
  assert.match(document.summary, /answered 401 .* by the plugin key-auth \(No API key found in request\)$/);
  assert.deepEqual([document.answer.by, document.answer.who, document.answer.status], ['plugin', 'key-auth', 401]);
  const limit = document.plugins.find((one: Document) => one.name === 'request-size-limiting');
  assert.deepEqual([limit.ran, limit.because], [false, 'key-auth had answered before its turn']);
  assert.deepEqual(document.attempts, []);
});

test('a dry run chooses an address, and sends nothing', async () => {
  await rig.write('PUT', '/upstreams/pool', { healthchecks: { passive: { unhealthy: { tcp_failures: 1 } } } });
  await rig.write('POST', '/upstreams/pool/targets', { target: `127.0.0.1:${rig.backend.port}` });
  await rig.write('POST', '/upstreams/pool/targets', { target: '127.0.0.1:1' });
  await rig.write('PUT', '/services/pooled', { host: 'pool', protocol: 'http', path: '/v1' });
  await rig.write('PUT', '/services/pooled/routes/pooled', { paths: ['/pooled'] });
  const seen = rig.backend.requests.length;
  const dry = await explained('/pooled/x', ['X-Sluicegate-Explain: dry'], 'x.test');
  assert.equal(dry.carried_out, false);
  assert.match(
    dry.summary,
    /^GET \/pooled\/x matched the route pooled and would go to 127\.0\.0\.1:\d+, service pooled$/,
  );
  assert.equal(dry.upstream_request.uri, '/v1/x');
  assert.equal(dry.balancer[0].upstream, 'pool');
  assert.deepEqual([dry.attempts, dry.answer.by, dry.answer.status], [[], 'nobody', null]);
  assert.equal(rig.backend.requests.length, seen);

  // One of the two rounds out to be dead, and is skipped from then on.
  let tries: Document = null;
  await until(async () => {
    tries = await explained('/pooled/x');
    return tries.attempts.length === 2;
  });
  assert.deepEqual([tries.attempts[0].failed, tries.attempts[0].error], [true, 'CONNECT_FAILED']);
  assert.match(tries.attempts[0].cause, /ECONNREFUSED/);
  assert.deepEqual(
    tries.balancer[1].others.map((one: Document) => one.because),
    ['unhealthy'],
  );
  await rig.write('PUT', '/upstreams/empty');
  await rig.write('PATCH', '/services/pooled', { host: 'empty' });
  const none = await explained('/pooled/x');
  assert.equal(none.balancer[0].chosen, null);
  assert.match(none.balancer[0].reason, /no target/);
  assert.equal(none.answer.error.code, 'NO_TARGET');
});

test('a timeout is reported with its length', async () => {
  await rig.write('PUT', '/services/slow', { url: rig.backend.url, retries: 0, read_timeout: 50 });
  await rig.write('PUT', '/services/slow/routes/slow', { paths: ['/silent'], strip_path: false });
  const { answer: given, attempts } = await explained('/silent');
  assert.equal(given.status, 504);
  assert.deepEqual([attempts[0].error, attempts[0].cause], ['FIRST_BYTE_TIMEOUT', 'no answer within 50 ms']);
});

test('an open circuit is reported', async () => {
  await rig.write('PUT', '/upstreams/broken');
  await rig.write('POST', '/upstreams/broken/targets', { target: '127.0.0.1:1' });
  await rig.write('PUT', '/services/broken', { host: 'broken', protocol: 'http', retries: 0 });
  await rig.write('PUT', '/services/broken/routes/broken', { paths: ['/broken'] });
  await rig.write('POST', '/routes/broken/plugins', {
    name: 'circuit-breaker',
    config: { per: ['target'], consecutive_failures: 1, pause: 60 },
  });
  await explained('/broken');
  const { balancer, answer: given } = await explained('/broken');
  assert.deepEqual(
    balancer[0].others.map((one: Document) => one.because),
    ['refused by a plugin: its circuit is open'],
  );
  assert.equal(given.status, 503);
});

test('a wrong token, none, several or an overlong one: served as if no debug field had been sent', async () => {
  const lines: readonly (readonly string[])[] = [
    [],
    ['X-Sluicegate-Debug-Token: wrong'],
    ['X-Sluicegate-Debug-Token:'],
    [`X-Sluicegate-Debug-Token: ${token}x`],
    [`X-Sluicegate-Debug-Token: ${token.slice(0, -1)}`],
    [`X-Sluicegate-Debug-Token: ${token}`, `X-Sluicegate-Debug-Token: ${token}`],
    [`X-Sluicegate-Debug-Token: ${token}`, 'X-Kong-Request-Debug-Token: wrong'],
    [`X-Sluicegate-Debug-Token: ${token}, ${token}`],
    [`X_Sluicegate_Debug_Token: ${token}`],
    [`X-Sluicegate-Debug-Token: ${'a'.repeat(20_000)}`],
  ];
  for (const tokens of lines) {
    const all = ['Host: x.test', 'X-Sluicegate-Explain: 1', 'X-Kong-Request-Debug: *', ...tokens, 'Connection: close'];
    const { body, raw } = await exchangeOne(rig.port, `GET /plain HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n`);
    assert.equal(body, 'served /plain', JSON.stringify(tokens).slice(0, 100));
    assert.doesNotMatch(raw, /server-timing|debug-output|no-store/i);
    const sent = rig.backend.requests.at(-1)?.raw ?? '';
    assert.doesNotMatch(sent, /debug|explain|wrong|a{40}/i);
    assert.ok(!sent.includes(token));
  }
});

test('with the token the timeline is in headers, and the response is unchanged', async () => {
  const given = await ask('/plain', { 'x-sluicegate-explain': '', 'x-kong-request-debug': '*' });
  assert.equal(await given.text(), 'served /plain');
  const timing = given.headers.get('server-timing') ?? '';
  assert.match(timing, /^gateway;dur=[\d.]+, upstream;dur=[\d.]+, router;dur=[\d.]+/);
  assert.match(timing, /plugin-correlation-id;dur=/);
  const output = JSON.parse(given.headers.get('x-kong-request-debug-output') ?? '');
  assert.ok(output.total_time > 0);
  assert.equal(output.request_id, given.headers.get('x-kong-request-id'));
  assert.ok(output.child.access.child.plugins.child['correlation-id'].total_time >= 0);
  assert.ok(output.child.upstream.child.time_to_first_byte.total_time > 0);
  const part = await ask('/plain', { 'x-sluicegate-explain': '', 'x-kong-request-debug': 'upstream, balancer' });
  const { child } = JSON.parse(part.headers.get('x-kong-request-debug-output') ?? '');
  assert.deepEqual(Object.keys(child), ['balancer', 'upstream']);
  await part.arrayBuffer();
  assert.doesNotMatch(rig.backend.requests.at(-1)?.raw ?? '', /debug|explain/i);
  const kongs = await fetch(`${rig.gateway.proxyUrl}/plain`, {
    headers: { 'x-kong-request-debug-token': token, 'x-kong-request-debug': '*', connection: 'close' },
  });
  assert.ok(kongs.headers.has('x-kong-request-debug-output'));
  await kongs.arrayBuffer();
});

test('over HTTP/2, for HEAD, with large bodies and those that break off', async () => {
  await using client = await openHttp2(rig.port);
  const fields = { 'x-sluicegate-debug-token': token, 'x-sluicegate-explain': '1', ':authority': 'x.test' };
  const overH2 = await client.request('/users/1', { headers: fields });
  assert.equal(overH2.status, 200);
  assert.equal(overH2.headers['cache-control'], 'no-store');
  const document: Document = JSON.parse(overH2.body.toString());
  assert.equal(document.request.http_version, '2');
  assert.equal(document.router.matched.name, 'users');
  const webSocket = await client.request('/users/ws', {
    headers: {
      ...fields,
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':scheme': 'http',
      'sec-websocket-version': '13',
    },
    body: '',
  });
  assert.equal(webSocket.status, 501);
  assert.match(JSON.parse(webSocket.body.toString()).note, /change of protocol/);

  const head = await ask('/users/1', {}, { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.ok(Number(head.headers.get('content-length')) > 1000);
  const asHead = await explained('/big', ['X-Sluicegate-Explain: 1; method=HEAD'], 'x.test');
  assert.equal(asHead.request.method, 'HEAD');
  assert.equal(rig.backend.requests.at(-1)?.method, 'HEAD');

  const big = await explained('/big', [], 'x.test');
  assert.equal(big.answer.body_bytes, 3_000_000);
  assert.equal(big.answer.complete, true);

  const broken = await explained('/torn', [], 'x.test');
  assert.deepEqual([broken.answer.status, broken.answer.body_bytes, broken.answer.complete], [200, 3, false]);
  assert.match(broken.note, /broke off/);
});

const handshake = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

test('a WebSocket is explained up to the choice of the backend', async () => {
  const seen = rig.backend.requests.length;
  const document = await explained('/users/ws', handshake, 'x.test');
  assert.match(document.note, /change of protocol \(websocket\)/);
  assert.match(document.summary, /would go to/);
  assert.equal(rig.backend.requests.length, seen);
});

test('a body is forwarded, and the connection is kept after the explanation', async () => {
  using client = await openClient(rig.port);
  const head = `POST /users HTTP/1.1\r\nHost: x.test\r\nX-Sluicegate-Explain: 1\r\nX-Sluicegate-Debug-Token: ${token}\r\n`;
  client.write(`${head}Content-Length: 5\r\n\r\nhello`);
  const first: Document = JSON.parse((await client.readResponse()).body);
  assert.equal(first.request.body, '5 bytes');
  assert.equal(rig.backend.requests.at(-1)?.body, 'hello');
  client.write(`${head.replace('Explain: 1', 'Explain: dry')}Content-Length: 5\r\n\r\nhello`);
  const second: Document = JSON.parse((await client.readResponse()).body);
  assert.equal(second.carried_out, false);
  client.write('GET /plain HTTP/1.1\r\nHost: x.test\r\n\r\n');
  assert.equal((await client.readResponse()).body, 'served /plain');
});

test('cached, collected and aggregated answers are explained, and no cache keeps an explanation', async () => {
  await rig.write('PUT', '/services/backend/routes/cached', { paths: ['/cached'], strip_path: false });
  await rig.write('POST', '/routes/cached/plugins', { name: 'proxy-cache', config: { strategy: 'memory' } });
  const first = await explained('/cached');
  assert.equal(first.answer.by, 'backend');
  const second = await explained('/cached');
  assert.deepEqual([second.answer.by, second.answer.who, second.attempts], ['plugin', 'proxy-cache', []]);
  assert.equal(second.answer.body_bytes, 4);
  const plain = await exchangeOne(rig.port, 'GET /cached HTTP/1.1\r\nHost: x.test\r\nConnection: close\r\n\r\n');
  assert.equal(plain.body, 'kept');
  assert.equal(plain.get('x-cache-status'), 'Hit');

  await rig.write('PUT', '/services/backend/routes/both', { paths: ['/both'] });
  const requests = ['one', 'two'].map((name) => ({ name, service: 'backend', path: `/part/${name}` }));
  await rig.write('POST', '/routes/both/plugins', { name: 'aggregate', config: { requests } });
  const both = await explained('/both');
  assert.deepEqual(
    both.attempts.map((one: Document) => [one.called_by, one.status]),
    [
      ['aggregate', 200],
      ['aggregate', 200],
    ],
  );
  assert.deepEqual([both.answer.by, both.answer.who], ['plugin', 'aggregate']);

  await rig.write('PUT', '/services/backend/routes/edited', { paths: ['/edited'], strip_path: false });
  await rig.write('POST', '/routes/edited/plugins', {
    name: 'response-transformer',
    config: { add: { json: ['more:1'] } },
  });
  const edited = await explained('/edited/part');
  const [transformer] = edited.plugins.filter((one: Document) => one.name === 'response-transformer');
  assert.deepEqual(
    transformer.phases.map((phase: Document) => phase.phase),
    ['access', 'response'],
  );
  assert.ok(transformer.phases[1].changed.includes('body of the answer'));
  assert.equal(edited.answer.by, 'backend');

  await rig.write('POST', '/routes/edited/plugins', {
    name: 'request-mirror',
    config: { url: `${rig.backend.url}/copy` },
  });
  const seen = rig.backend.requests.length;
  const dry = await explained('/both', ['X-Sluicegate-Explain: dry']);
  assert.match(dry.note, /ends where the plugin aggregate would have asked a backend/);
  assert.match(
    (await explained('/edited/x?a', ['X-Sluicegate-Explain: dry'])).upstream_request.uri,
    /^\/edited\/x\?a$/,
  );
  // What comes after it has overtaken no copy.
  await explained('/edited/last');
  await rig.backend.request(({ target }) => target === '/copy/edited/last');
  assert.ok(!rig.backend.requests.some(({ target }) => target.startsWith('/copy/edited/x')));
  assert.equal(rig.backend.requests.length, seen + 2);
});

test('the file of the token is its owner alone, and no log and no answer of the Admin API shows the token', async () => {
  const file = join(rig.gateway.prefix, 'request_debug_token');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.match(token, /^[\w-]{40,}$/);
  const root = await rig.gateway.admin('GET', '/');
  assert.ok(!JSON.stringify(root.body).includes(token));
  await ask('/plain', { 'x-kong-request-debug': '*', 'x-kong-request-debug-log': 'true' }).then((one) =>
    one.arrayBuffer(),
  );
  for (const name of readdirSync(rig.gateway.prefix, { recursive: true, encoding: 'utf8' })) {
    const path = join(rig.gateway.prefix, name);
    if (name === 'request_debug_token' || !statSync(path).isFile()) continue;
    assert.ok(!readFileSync(path).includes(token), name);
  }
});

test('with request_debug off there is no token, and nothing is explained', async () => {
  await using off = await startRig({
    env: { KONG_REQUEST_DEBUG: 'off', KONG_REQUEST_DEBUG_TOKEN: 'configured-debug-token' },
  });
  const given = await fetch(`${off.gateway.proxyUrl}/x`, {
    headers: { 'x-sluicegate-debug-token': 'configured-debug-token', 'x-sluicegate-explain': '1', connection: 'close' },
  });
  assert.equal(given.headers.get('cache-control'), null);
  await given.arrayBuffer();
  assert.doesNotMatch(off.backend.requests[0]?.raw ?? '', /configured|explain/i);
  assert.ok(!readdirSync(off.gateway.prefix).includes('request_debug_token'));
});

test('Server-Timing for all, when the headers setting names it', async () => {
  await using all = await startRig({ env: { KONG_HEADERS: 'Server-Timing' } });
  const given = await fetch(`${all.gateway.proxyUrl}/x`, { headers: { connection: 'close' } });
  await given.arrayBuffer();
  assert.match(given.headers.get('server-timing') ?? '', /^gateway;dur=[\d.]+, upstream;dur=[\d.]+$/);
  await all.write('DELETE', '/routes/all');
  const none = await fetch(`${all.gateway.proxyUrl}/x`, { headers: { connection: 'close' } });
  await none.arrayBuffer();
  assert.match(none.headers.get('server-timing') ?? '', /^gateway;dur=[\d.]+$/);
});

test('values that data-masking masks are masked in route conditions, too', async () => {
  const rule = { name: 'people', headers: ['X-Person'], action: 'replace', text: 'hidden' };
  const plugin = await rig.write('POST', '/plugins', { name: 'data-masking', config: { rules: [rule] } });
  const route = await rig.write('PUT', '/services/backend/routes/person', {
    paths: ['/person'],
    headers: { 'X-Person': ['ada-private', 'eva-private'] },
  });
  const matched = await explained('/person', ['X-Person: ada-private']);
  assert.equal(matched.router.matched.name, 'person');
  const other = await explained('/person', ['X-Person: ida-private']);
  assert.notEqual(other.router.matched?.name, 'person');
  await rig.write('DELETE', `/routes/${route['id']}`);
  await rig.write('DELETE', `/plugins/${plugin['id']}`);
  assert.doesNotMatch(JSON.stringify([matched, other]), /-private/);
});
