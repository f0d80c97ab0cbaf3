import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { type EchoedRequest, startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { startOtlpReceiver } from '../../../test/support/otlp-receiver.ts';
import { streamListeners } from '../../../test/support/stream-rig.ts';
import { until } from '../../../test/support/until.ts';
import type { ZipkinSpan } from './zipkin-span.ts';

/* Traces through a real gateway, at a receiver that holds them against Zipkin's description of its JSON, version 2. */

let gateway: TestGateway;
let backend: TestBackend;
let receiver: TestBackend;
let serial = 0;
const spans: ZipkinSpan[] = [];
const messages: { readonly path: string; readonly type: string | undefined }[] = [];
const faults: string[] = [];

before(async () => {
  backend = await startBackend();
  receiver = await startBackend({
    handler(request, response) {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const list = JSON.parse(Buffer.concat(pieces).toString()) as unknown[];
        for (const one of list) faults.push(...faultsOf(one as Record<string, unknown>));
        spans.push(...(list as ZipkinSpan[]));
        messages.push({ path: request.url ?? '', type: request.headers['content-type'] });
        response.writeHead(202).end();
      });
    },
  });
  gateway = await startTestGateway({
    settings: { plugins: ['zipkin', 'opentelemetry', 'key-auth'], streamListen: streamListeners('') },
  });
  await write('PUT', '/services/backend', { url: backend.url });
});
after(async () => {
  await gateway.stop();
  await backend.close();
  await receiver.close();
  assert.deepEqual(faults, []);
});

/** What Zipkin's schema (zipkin2-api.yaml) does not allow. */
function faultsOf(span: Record<string, unknown>): string[] {
  const found: string[] = [];
  const must = (holds: boolean, what: string) => {
    if (!holds) found.push(`${what}: ${JSON.stringify(span)}`);
  };
  const known = ['traceId', 'id', 'parentId', 'name', 'kind', 'timestamp', 'duration', 'localEndpoint'];
  const all = [...known, 'remoteEndpoint', 'annotations', 'tags', 'debug', 'shared'];
  must(
    Object.keys(span).every((name) => all.includes(name)),
    'unknown field',
  );
  must(/^(?:[0-9a-f]{16}){1,2}$/.test(String(span['traceId'])), 'traceId');
  must(/^[0-9a-f]{16}$/.test(String(span['id'])), 'id');
  must(span['parentId'] === undefined || /^[0-9a-f]{16}$/.test(String(span['parentId'])), 'parentId');
  must(['CLIENT', 'SERVER', 'PRODUCER', 'CONSUMER'].includes(String(span['kind'])), 'kind');
  must(Number.isSafeInteger(span['timestamp']) && Number(span['timestamp']) > 1e15, 'timestamp');
  must(Number.isSafeInteger(span['duration']) && Number(span['duration']) >= 1, 'duration');
  const tags = span['tags'] as Record<string, unknown>;
  must(
    Object.values(tags).every((value) => typeof value === 'string'),
    'tags',
  );
  for (const end of ['localEndpoint', 'remoteEndpoint']) {
    const place = span[end] as Record<string, unknown> | undefined;
    if (place === undefined) continue;
    must(
      Object.keys(place).every((name) => ['serviceName', 'ipv4', 'ipv6', 'port'].includes(name)),
      end,
    );
    must(place['port'] === undefined || Number.isSafeInteger(place['port']), `${end} port`);
  }
  for (const { timestamp, value } of (span['annotations'] as { timestamp: unknown; value: unknown }[]) ?? []) {
    must(Number.isSafeInteger(timestamp) && typeof value === 'string', 'annotations');
  }
  return found;
}

async function write(method: string, path: string, body: unknown): Promise<void> {
  const answer = await gateway.admin(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
}

async function route(config: Readonly<Record<string, unknown>>, service = 'backend'): Promise<string> {
  const name = `r${serial++}`;
  await write('PUT', `/services/${service}/routes/${name}`, { paths: [`/${name}`] });
  await write('POST', `/routes/${name}/plugins`, {
    name: 'zipkin',
    config: { http_endpoint: `${receiver.url}/api/v2/spans`, sample_ratio: 1, ...config },
  });
  return `/${name}`;
}

async function ask(path: string, headers: Readonly<Record<string, string>> = {}): Promise<EchoedRequest> {
  const answer = await fetch(gateway.proxyUrl + path, { headers });
  return (await answer.json()) as EchoedRequest;
}

async function traceOf(traceId: string, kind = 'SERVER'): Promise<readonly ZipkinSpan[]> {
  const own = () => spans.filter((span) => span.traceId === traceId);
  await until(() => own().some((span) => span.kind === kind));
  return own();
}

test('sends a request span, a proxy span and an attempt, and forwards B3', async () => {
  const path = await route({ static_tags: [{ name: 'team', value: 'x' }] });
  const seen = await ask(`${path}/x?token=secret`, { 'zipkin-tags': 'a=1; lc=forged; b=x"y' });
  const traceId = String(seen.headers['x-b3-traceid']);
  const [root, proxy, attempt, ...others] = await traceOf(traceId);
  assert.ok(root !== undefined && proxy !== undefined && attempt !== undefined && others.length === 0);
  assert.deepEqual([root.name, proxy.name, attempt.name], ['GET', 'GET (proxy)', 'GET (balancer try 1)']);
  assert.deepEqual([root.kind, proxy.kind, attempt.kind], ['SERVER', 'CLIENT', 'CLIENT']);
  assert.deepEqual([root.parentId, proxy.parentId, attempt.parentId], [undefined, root.id, proxy.id]);
  assert.equal(seen.headers['x-b3-spanid'], attempt.id);
  assert.equal(seen.headers['x-b3-parentspanid'], root.id);
  assert.equal(seen.headers['x-b3-sampled'], '1');
  assert.equal(traceId.length, 32);
  const { tags } = root;
  assert.equal(tags['lc'], 'kong');
  assert.equal(tags['http.path'], `${path}/x`);
  assert.equal(tags['http.status_code'], '200');
  assert.equal(tags['http.protocol'], 'HTTP/1.1');
  assert.equal(tags['kong.service_name'], 'backend');
  assert.equal(tags['kong.route_name'], path.slice(1));
  assert.deepEqual([tags['team'], tags['a'], tags['b']], ['x', '1', 'x"y']);
  assert.equal(tags['error'], undefined);
  assert.deepEqual(root.localEndpoint, { serviceName: 'kong' });
  assert.equal(root.remoteEndpoint?.ipv4, '127.0.0.1');
  assert.deepEqual(attempt.remoteEndpoint, { serviceName: 'backend', ipv4: '127.0.0.1', port: backend.port });
  assert.equal(attempt.tags['kong.balancer.try'], '1');
  const marks = (span: ZipkinSpan) => (span.annotations ?? []).map(({ value }) => value);
  assert.deepEqual(marks(root), ['krs', 'krf']);
  assert.deepEqual(marks(proxy), ['kas', 'kaf', 'khs', 'khf', 'kbs', 'kbf']);
  const times = [...(root.annotations ?? []), ...(proxy.annotations ?? [])].map(({ timestamp }) => timestamp);
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
  const end = root.timestamp + root.duration;
  assert.ok(times.every((time) => time >= root.timestamp && time <= end + 1));
  assert.ok(proxy.timestamp >= root.timestamp && attempt.timestamp >= proxy.timestamp);
  assert.deepEqual(messages[0], { path: '/api/v2/spans', type: 'application/json' });
  assert.ok(!JSON.stringify(spans).includes('secret'));
});

test('decodes paths and tags to text', async () => {
  const path = await route({ http_span_name: 'method_path' });
  const tag = Buffer.from('dp=Łódź').toString('latin1');
  const seen = await ask(`${path}/caf%C3%A9/%F0%9F%98%80`, { 'zipkin-tags': tag });
  const [root] = await traceOf(String(seen.headers['x-b3-traceid']));
  assert.deepEqual([root?.name, root?.tags['http.path']], [`GET ${path}/café/😀`, `${path}/café/😀`]);
  assert.equal(root?.tags['dp'], 'Łódź');
});

test('applies 64-bit ids, phase tags, span names with the path, and the service name', async () => {
  const path = await route({
    traceid_byte_count: 8,
    phase_duration_flavor: 'tags',
    http_span_name: 'method_path',
    local_service_name: 'edge',
    default_header_type: 'b3-single',
    http_response_header_for_traceid: 'X-Trace',
  });
  const answer = await fetch(gateway.proxyUrl + path);
  const seen = (await answer.json()) as EchoedRequest;
  const [traceId = '', spanId] = String(seen.headers['b3']).split('-');
  assert.equal(traceId.length, 16);
  assert.equal(answer.headers.get('x-trace'), traceId);
  const [root, proxy, attempt] = await traceOf(traceId);
  assert.equal(root?.name, `GET ${path}`);
  assert.equal(root?.annotations, undefined);
  assert.match(root?.tags['kong.rewrite.duration_ms'] ?? '', /^\d+$/);
  assert.match(proxy?.tags['kong.access.duration_ms'] ?? '', /^\d+$/);
  assert.equal(root?.localEndpoint.serviceName, 'edge');
  assert.equal(attempt?.id, spanId);
});

const id = '463ac35c9f6413ad48485a3953bb6124';
const span = 'a2fb4a1d1a96d312';

test("continues a client's trace in its format, with its sampling decision", async () => {
  const path = await route({ sample_ratio: 0 });
  const seen = await ask(path, { 'x-b3-traceid': id.slice(16), 'x-b3-spanid': span, 'x-b3-sampled': '1' });
  assert.equal(seen.headers['x-b3-traceid'], id.slice(16));
  const [root] = await traceOf(id.slice(16));
  assert.equal(root?.parentId, span);
  const other = await ask(path, { 'uber-trace-id': `${id}:${span}:0:1` });
  const [jaeger, , attempt] = await traceOf(id);
  assert.equal(jaeger?.parentId, span);
  assert.match(String(other.headers['uber-trace-id']), new RegExp(`^${id}:${attempt?.id}:[0-9a-f]{16}:1$`));
  const all = await route({ sample_ratio: 1 });
  const unsampled = await ask(all, { b3: `${id.slice(1)}0-${span}-0` });
  assert.match(String(unsampled.headers['b3']), new RegExp(`^${id.slice(1)}0-[0-9a-f]{16}-0$`));
  const alone = await ask(all, { b3: '0' });
  assert.match(String(alone.headers['b3']), /^[0-9a-f]{32}-[0-9a-f]{16}-0$/);
  await ask(all, { b3: `${'1'.repeat(32)}-${span}-1` });
  await traceOf('1'.repeat(32));
  assert.ok(!spans.some(({ traceId }) => traceId === `${id.slice(1)}0`));
});

test('marks failed attempts, refused requests and errors of the backend', async () => {
  let calls = 0;
  await using flaky = await startBackend({
    handler: (request, response) => {
      if (++calls < 2) request.socket.destroy();
      else response.writeHead(500).end('no');
    },
  });
  await write('PUT', '/services/flaky', { url: flaky.url, retries: 3 });
  const path = await route({}, 'flaky');
  await (await fetch(gateway.proxyUrl + path, { headers: { b3: `${'2'.repeat(32)}-${span}-1` } })).text();
  const [root, proxy, ...attempts] = await traceOf('2'.repeat(32));
  assert.deepEqual([root?.tags['error'], root?.tags['http.status_code']], ['true', '500']);
  assert.deepEqual(
    attempts.map(({ name, parentId, tags }) => [
      name,
      parentId === proxy?.id,
      tags['kong.balancer.state'],
      tags['error'],
    ]),
    [
      ['GET (balancer try 1)', true, 'failed', 'true'],
      ['GET (balancer try 2)', true, undefined, undefined],
    ],
  );

  const locked = await route({});
  await write('POST', `/routes${locked}/plugins`, { name: 'key-auth' });
  const refused = await fetch(gateway.proxyUrl + locked, { headers: { b3: `${'3'.repeat(32)}-${span}-1` } });
  assert.equal(refused.status, 401);
  const [only, ...none] = await traceOf('3'.repeat(32));
  assert.equal(none.length, 0);
  assert.equal(only?.tags['http.status_code'], '401');
  assert.deepEqual(
    only?.annotations?.map(({ value }) => value),
    ['krs', 'krf', 'kas', 'kaf', 'khs', 'khf', 'kbs', 'kbf'],
  );
});

test('shares one trace with opentelemetry, with linked spans', async () => {
  await using otlp = await startOtlpReceiver();
  const path = await route({});
  await write('POST', `/routes${path}/plugins`, {
    name: 'opentelemetry',
    config: { traces_endpoint: `${otlp.url}/v1/traces`, sampling_rate: 0, queue: { max_coalescing_delay: 0.01 } },
  });
  const seen = await ask(path);
  const [, traceId = '', told] = String(seen.headers['traceparent']).split('-');
  assert.equal(seen.headers['x-b3-traceid'], traceId);
  const [, , attempt] = await traceOf(traceId);
  assert.equal(seen.headers['x-b3-spanid'], attempt?.id);
  // The rate of the second is ignored: the first has decided.
  const own = await otlp.trace(traceId);
  assert.equal(own.find(({ name }) => name === 'kong')?.parentSpanId, attempt?.id);
  assert.equal(own.find(({ name }) => name === 'kong.balancer')?.spanId, told);
  const { body } = await gateway.admin('GET', `/routes${path}/plugins`);
  const second = (body['data'] as { id: string; name: string }[]).find(({ name }) => name === 'zipkin');
  await write('PATCH', `/plugins/${second?.id}`, { config: { sample_ratio: 0 } });
  const neither = await ask(path);
  assert.match(String(neither.headers['traceparent']), /-00$/);
  assert.equal(neither.headers['x-b3-sampled'], '0');
});

test('reports the consumer; an instance of a consumer runs too late, as in Kong', async () => {
  const path = await route({});
  await write('POST', `/routes${path}/plugins`, { name: 'key-auth' });
  await write('PUT', '/consumers/ada', {});
  await write('POST', '/consumers/ada/key-auth', { key: 'ada-key' });
  await write('POST', '/consumers/ada/plugins', {
    name: 'zipkin',
    config: { http_endpoint: `${receiver.url}/of-ada`, sample_ratio: 1, local_service_name: 'for ada' },
  });
  const seen = await ask(path, { apikey: 'ada-key' });
  const [root, proxy, attempt] = await traceOf(String(seen.headers['x-b3-traceid']));
  assert.equal(root?.localEndpoint.serviceName, 'kong');
  assert.match(root?.tags['kong.consumer'] ?? '', /^[0-9a-f-]{36}$/);
  assert.match(root?.tags['kong.credential'] ?? '', /^[0-9a-f-]{36}$/);
  assert.deepEqual([proxy?.parentId, attempt?.parentId], [root?.id, proxy?.id]);
  assert.equal(seen.headers['x-b3-spanid'], attempt?.id);
  assert.ok(!messages.some((message) => message.path === '/of-ada'));
});

test('sends a span for a stream', async () => {
  await write('PUT', '/services/tcp', { protocol: 'tcp', host: '127.0.0.1', port: backend.port });
  await write('PUT', '/services/tcp/routes/tcp', { protocols: ['tcp'], sources: [{ ip: '127.0.0.1' }] });
  await write('POST', '/routes/tcp/plugins', {
    name: 'zipkin',
    protocols: ['tcp'],
    config: { http_endpoint: `${receiver.url}/api/v2/spans`, sample_ratio: 1 },
  });
  const port = gateway.gateway.addresses.stream[0]?.port ?? 0;
  const socket = connect(port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  socket.resume();
  await until(() => spans.some(({ name }) => name === 'stream (proxy)'));
  const root = spans.find(({ name }) => name === 'stream');
  assert.equal(spans.find(({ name }) => name === 'stream (proxy)')?.parentId, root?.id);
  assert.deepEqual(
    root?.annotations?.map(({ value }) => value),
    ['kps', 'kpf'],
  );
  assert.equal(root?.tags['kong.route_name'], 'tcp');
});

test('refuses an invalid address with its field, and only forwards headers without one', async () => {
  const { status, body } = await gateway.admin('POST', '/plugins', { name: 'zipkin', config: { http_endpoint: 'x' } });
  assert.equal(status, 400);
  assert.ok('http_endpoint' in ((body['fields'] as Record<string, object>)['config'] ?? {}));
  const path = await route({ http_endpoint: null });
  const seen = await ask(path, { b3: `${id}-${span}-1` });
  assert.equal(seen.headers['b3'], `${id}-${span}-1`);
  assert.equal((await ask(path)).headers['x-b3-sampled'], '1');
  const none = await route({ http_endpoint: null, sample_ratio: 0 });
  assert.equal((await ask(none)).headers['x-b3-sampled'], '0');
});

// Last, because its instances are global.
test('shares one trace with opentelemetry for a request that neither saw before its end', async () => {
  await using otlp = await startOtlpReceiver();
  for (const [name, config] of [
    ['zipkin', { http_endpoint: `${receiver.url}/api/v2/spans`, sample_ratio: 1, http_span_name: 'method_path' }],
    ['opentelemetry', { traces_endpoint: `${otlp.url}/v1/traces`, queue: { max_coalescing_delay: 0.01 } }],
  ] as const) {
    await write('POST', '/plugins', { name, config });
  }
  assert.equal((await fetch(`${gateway.proxyUrl}/matches-nothing`)).status, 404);
  await until(() => spans.some(({ name }) => name === 'GET /matches-nothing') && otlp.spans.length > 0);
  const root = spans.find(({ name }) => name === 'GET /matches-nothing');
  const own = otlp.spans.find(({ name }) => name === 'kong');
  assert.deepEqual([own?.traceId, own?.parentSpanId], [root?.traceId, root?.id]);
});
