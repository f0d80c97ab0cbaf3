import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type EchoedRequest, startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { grpcClient, startGrpcBackend, unary } from '../../../test/support/grpc.ts';
import { openHttp2 } from '../../../test/support/http2-client.ts';
import { http2Settings } from '../../../test/support/http2-rig.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../../../test/support/otlp-receiver.ts';
import { until } from '../../../test/support/until.ts';

/* Traces through a real gateway, at a receiver that decodes them with the definitions of the specification. */

let gateway: TestGateway;
let backend: TestBackend;
let receiver: OtlpReceiver;
let serial = 0;

const quick = { max_coalescing_delay: 0.01, initial_retry_delay: 0.01 };
const everything = new Set(['request', 'router', 'http_client', 'balancer', 'plugin_access', 'dns_query']);
const instrumentations = new Set([...everything, 'plugin_rewrite', 'plugin_header_filter']);

before(async () => {
  receiver = await startOtlpReceiver();
  backend = await startBackend();
  gateway = await startTestGateway({
    settings: {
      ...http2Settings(),
      plugins: ['opentelemetry', 'key-auth', 'response-transformer'],
      tracing: { instrumentations, samplingRate: 0.01 },
    },
  });
  await write('PUT', '/services/backend', { url: backend.url });
  await write('POST', '/plugins', { name: 'opentelemetry', config: traced({ resource_attributes: { zone: 'a' } }) });
});
after(async () => {
  await gateway.stop();
  await backend.close();
  await receiver.close();
});

function traced(config: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { traces_endpoint: `${receiver.url}/v1/traces`, sampling_rate: 1, queue: quick, ...config };
}

async function write(method: string, path: string, body: unknown): Promise<Readonly<Record<string, unknown>>> {
  const answer = await gateway.admin(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** A new route; with a configuration, also a new instance on it. Returns its path. */
async function route(config: Readonly<Record<string, unknown>> | null = null, service = 'backend'): Promise<string> {
  const name = `r${serial++}`;
  await write('PUT', `/services/${service}/routes/${name}`, { paths: [`/${name}`] });
  if (config !== null) await write('POST', `/routes/${name}/plugins`, { name: 'opentelemetry', config });
  return `/${name}`;
}

async function ask(path: string, headers: Readonly<Record<string, string>> = {}): Promise<EchoedRequest> {
  const answer = await fetch(gateway.proxyUrl + path, { headers });
  return (await answer.json()) as EchoedRequest;
}

function parentOf(request: EchoedRequest): readonly string[] {
  return String(request.headers['traceparent']).split('-');
}

function named(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const found = spans.find((span) => span.name === name);
  assert.ok(found !== undefined, `${name} is not among ${spans.map((span) => span.name)}`);
  return found;
}

test('sends a request as one trace: its span, the router, plugins, and the attempt, whose id the backend received', async () => {
  const path = await route();
  const before = BigInt(Date.now() - 1) * 1_000_000n;
  const seen = await ask(`${path}/x?a=1&apikey=secret`, { 'user-agent': 'a test', 'x-secret': 'never' });
  const [, traceId = '', told] = parentOf(seen);
  assert.match(String(seen.headers['traceparent']), /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  const spans = await receiver.trace(traceId);
  const root = named(spans, 'kong');
  const attempt = named(spans, 'kong.balancer');
  assert.deepEqual(spans.map(({ name }) => name).toSorted(), [
    'kong',
    'kong.access.plugin.opentelemetry',
    'kong.balancer',
    'kong.balancer.connect',
    'kong.router',
  ]);
  assert.equal(root.parentSpanId, '');
  assert.equal(attempt.spanId, told);
  assert.deepEqual([root.kind, attempt.kind, named(spans, 'kong.router').kind], [2, 3, 1]);
  for (const span of spans) {
    if (span !== root) assert.equal(span.parentSpanId, span.name.endsWith('connect') ? attempt.spanId : root.spanId);
    assert.ok(span.start >= root.start && span.end <= root.end && span.start <= span.end, span.name);
    assert.equal(span.status, 0);
  }
  assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, spans.length);
  assert.ok(root.start >= before && root.end <= BigInt(Date.now() + 1) * 1_000_000n);
  const { attributes } = root;
  assert.equal(attributes['http.method'], 'GET');
  assert.equal(attributes['http.status_code'], 200);
  assert.equal(attributes['http.route'], path);
  assert.equal(attributes['http.flavor'], '1.1');
  assert.equal(attributes['http.url'], `${gateway.proxyUrl}${path}/x?a=1&apikey=REDACTED`);
  assert.equal(attributes['url.query'], 'a=1&apikey=REDACTED');
  assert.equal(attributes['user_agent.original'], 'a test');
  assert.equal(attributes['net.peer.ip'], '127.0.0.1');
  assert.equal(attributes['kong.service.name'], 'backend');
  assert.equal(attempt.attributes['net.peer.port'], backend.port);
  assert.equal(attempt.attributes['http.response.status_code'], 200);
  assert.equal(attempt.attributes['try_count'], 1);
  const { resource } = root;
  assert.equal(resource['service.name'], 'kong');
  assert.equal(resource['zone'], 'a');
  assert.match(String(resource['service.instance.id']), /^[0-9a-f-]{36}$/);
  const everythingSent = Buffer.concat(receiver.messages.map(({ body }) => body)).toString('latin1');
  assert.ok(!everythingSent.includes('secret') && !everythingSent.includes('never'));
  assert.equal(receiver.messages[0]?.headers['content-type'], 'application/x-protobuf');
});

const id = '0af7651916cd43dd8448eb211c80319c';
const span = 'b7ad6b7169203331';

for (const [format, headers, traceId, expected] of [
  [
    'w3c',
    { traceparent: `00-${id}-${span}-01`, tracestate: 'a=1' },
    id,
    (told: string) => ({ traceparent: `00-${id}-${told}-01`, tracestate: 'a=1' }),
  ],
  [
    'b3',
    { 'x-b3-traceid': id, 'x-b3-spanid': span, 'x-b3-sampled': '1' },
    id,
    (told: string) => ({ 'x-b3-traceid': id, 'x-b3-spanid': told, 'x-b3-sampled': '1' }),
  ],
  ['b3-single', { b3: `${id.slice(16)}-${span}-1` }, `${'0'.repeat(16)}${id.slice(16)}`, null],
  ['jaeger', { 'uber-trace-id': `${id}:${span}:0:1` }, id, null],
  [
    'ot',
    { 'ot-tracer-traceid': id, 'ot-tracer-spanid': span, 'ot-tracer-sampled': 'true' },
    id,
    (told: string) => ({ 'ot-tracer-spanid': told }),
  ],
  [
    'datadog',
    {
      'x-datadog-trace-id': String(BigInt(`0x${id.slice(16)}`)),
      'x-datadog-parent-id': String(BigInt(`0x${span}`)),
      'x-datadog-sampling-priority': '1',
      'x-datadog-tags': `_dd.p.tid=${id.slice(0, 16)}`,
    },
    id,
    (told: string) => ({
      'x-datadog-parent-id': String(BigInt(`0x${told}`)),
      'x-datadog-tags': `_dd.p.tid=${id.slice(0, 16)}`,
    }),
  ],
  [
    'aws',
    { 'x-amzn-trace-id': `Root=1-${id.slice(0, 8)}-${id.slice(8)};Parent=${span};Sampled=1` },
    id,
    (told: string) => ({ 'x-amzn-trace-id': `Root=1-${id.slice(0, 8)}-${id.slice(8)};Parent=${told};Sampled=1` }),
  ],
  [
    'gcp',
    { 'x-cloud-trace-context': `${id}/${BigInt(`0x${span}`)};o=1` },
    id,
    (told: string) => ({ 'x-cloud-trace-context': `${id}/${BigInt(`0x${told}`)};o=1` }),
  ],
] as const) {
  test(`continues the trace of a client: ${format}`, async () => {
    receiver.spans.length = 0;
    // The rate says no; the decision of the client counts.
    const path = await route(traced({ sampling_rate: 0 }));
    const seen = await ask(path, headers as Record<string, string>);
    const spans = await receiver.trace(traceId);
    assert.equal(named(spans, 'kong').parentSpanId, span);
    const told = named(spans, 'kong.balancer').spanId;
    if (format === 'b3-single') {
      assert.equal(seen.headers['b3'], `${id.slice(16)}-${told}-1-${named(spans, 'kong').spanId}`);
    } else if (format === 'jaeger') {
      assert.equal(seen.headers['uber-trace-id'], `${id}:${told}:${named(spans, 'kong').spanId}:1`);
    } else {
      for (const [name, value] of Object.entries(expected?.(told) ?? {})) assert.equal(seen.headers[name], value, name);
    }
    if (format !== 'w3c') assert.equal(seen.headers['traceparent'], undefined);
    assert.equal(named(spans, 'kong').traceState, format === 'w3c' ? 'a=1' : '');
  });
}

test('ignores malformed trace headers', async () => {
  const path = await route(traced());
  const seen = await ask(path, { traceparent: `00-${id.toUpperCase()}-${span}-01`, tracestate: 'x=1' });
  const [, traceId = ''] = parentOf(seen);
  assert.match(traceId, /^[0-9a-f]{32}$/);
  assert.notEqual(traceId, id);
  assert.equal(seen.headers['tracestate'], undefined);
  assert.equal(named(await receiver.trace(traceId), 'kong').parentSpanId, '');
});

test('samples all, none or a tenth, and forwards the decision', async () => {
  for (const [rate, low, high] of [
    [1, 40, 40],
    [0, 0, 0],
    [0.1, 20, 90],
  ] as const) {
    const path = await route(traced({ sampling_rate: rate }));
    const requests = rate === 0.1 ? 500 : 40;
    const flags: string[] = [];
    const ids: string[] = [];
    for (let at = 0; at < requests; at += 20) {
      for (const seen of await Promise.all(Array.from({ length: 20 }, () => ask(path)))) {
        const [, traceId = '', , flag = ''] = parentOf(seen);
        flags.push(flag);
        if (flag === '01') ids.push(traceId);
      }
    }
    assert.ok(ids.length >= low && ids.length <= high, `${rate}: ${ids.length} of ${requests}`);
    assert.ok(flags.every((flag) => flag === '00' || flag === '01'));
    await until(() => ids.every((one) => receiver.spans.some(({ traceId }) => traceId === one)));
    const sent = new Set(
      receiver.spans.filter(({ attributes }) => attributes['http.route'] === path).map((one) => one.traceId),
    );
    assert.deepEqual(sent, new Set(ids));
  }
});

test('combines the decision of the client and the rate by strategy', async () => {
  const sampled = async (config: Record<string, unknown>, flag: string | null): Promise<boolean> => {
    const path = await route(traced(config));
    const own = `${'5'.repeat(24)}${String(serial).padStart(8, '0')}`;
    const seen = await ask(path, flag === null ? {} : { traceparent: `00-${own}-${span}-${flag}` });
    const [, traceId, , told] = parentOf(seen);
    if (flag !== null) assert.equal(traceId, own);
    return told === '01';
  };
  const drop = { sampling_strategy: 'parent_drop_probability_fallback' };
  const rate = { sampling_strategy: 'probability' };
  assert.equal(await sampled({ sampling_rate: 0 }, '01'), true);
  assert.equal(await sampled({ sampling_rate: 1 }, '00'), false);
  assert.equal(await sampled({ sampling_rate: 1 }, null), true);
  assert.equal(await sampled({ ...drop, sampling_rate: 0 }, '01'), false);
  assert.equal(await sampled({ ...drop, sampling_rate: 1 }, '01'), true);
  assert.equal(await sampled({ ...drop, sampling_rate: 1 }, '00'), false);
  assert.equal(await sampled({ ...rate, sampling_rate: 1 }, '00'), true);
  assert.equal(await sampled({ ...rate, sampling_rate: 0 }, '01'), false);
});

test('ignores trace headers of the client with header_type ignore, and sends the trace id in the answer', async () => {
  const path = await route(traced({ header_type: 'ignore', http_response_header_for_traceid: 'X-Trace' }));
  const answer = await fetch(gateway.proxyUrl + path, { headers: { traceparent: `00-${id}-${span}-01` } });
  const seen = (await answer.json()) as EchoedRequest;
  const [, traceId = ''] = parentOf(seen);
  assert.notEqual(traceId, id);
  assert.equal(answer.headers.get('x-trace'), traceId);
  assert.equal(named(await receiver.trace(traceId), 'kong').parentSpanId, '');
});

test('traces refused requests and requests without a route', async () => {
  const path = await route(traced({ http_response_header_for_traceid: 'X-Trace' }));
  await write('POST', `/routes${path}/plugins`, { name: 'key-auth' });
  const refused = await fetch(gateway.proxyUrl + path, { headers: { traceparent: `00-${'7'.repeat(32)}-${span}-01` } });
  assert.equal(refused.status, 401);
  assert.equal(refused.headers.get('x-trace'), '7'.repeat(32));
  const spans = await receiver.trace('7'.repeat(32));
  assert.equal(named(spans, 'kong').parentSpanId, span);
  assert.equal(named(spans, 'kong').attributes['http.status_code'], 401);
  assert.equal(named(spans, 'kong').status, 0);
  assert.equal(named(spans, 'kong.access.plugin.key-auth').attributes['kong.plugin.decision'], 'status 401');
  assert.ok(!spans.some(({ name }) => name === 'kong.balancer'));

  const unrouted = await fetch(`${gateway.proxyUrl}/nowhere`, { headers: { b3: `${'8'.repeat(32)}-${span}-1` } });
  assert.equal(unrouted.status, 404);
  const lost = await receiver.trace('8'.repeat(32));
  assert.equal(named(lost, 'kong').attributes['http.status_code'], 404);
  assert.equal(named(lost, 'kong').attributes['kong.service.id'], undefined);
  assert.deepEqual(lost.map(({ name }) => name).toSorted(), ['kong', 'kong.router']);
});

test('makes each attempt a span, and forwards its id to its backend', async () => {
  const parents: string[] = [];
  let calls = 0;
  await using flaky = await startBackend({
    handler: (request, response) => {
      parents.push(String(request.headers['traceparent']).split('-')[2] ?? '');
      if (++calls < 3) request.socket.destroy();
      else response.end('ok');
    },
  });
  await write('PUT', '/services/flaky', { url: flaky.url, retries: 4 });
  const path = await route(traced(), 'flaky');
  const own = '9'.repeat(32);
  const answer = await fetch(gateway.proxyUrl + path, { headers: { traceparent: `00-${own}-${span}-01` } });
  assert.equal(answer.status, 200);
  const attempts = (await receiver.trace(own)).filter(({ name }) => name === 'kong.balancer');
  assert.deepEqual(
    attempts.map(({ spanId }) => spanId),
    parents,
  );
  assert.equal(new Set(parents).size, 3);
  assert.deepEqual(
    attempts.map(({ attributes, status }) => [attributes['try_count'], status]),
    [
      [1, 2],
      [2, 2],
      [3, 0],
    ],
  );
});

test('marks the span as an error when the backend fails', async () => {
  await using failing = await startBackend({ handler: (_, response) => response.writeHead(503).end('no') });
  await write('PUT', '/services/failing', { url: failing.url });
  const path = await route(traced(), 'failing');
  const own = 'a'.repeat(32);
  await (await fetch(gateway.proxyUrl + path, { headers: { traceparent: `00-${own}-${span}-01` } })).text();
  const spans = await receiver.trace(own);
  assert.deepEqual([named(spans, 'kong').status, named(spans, 'kong.balancer').status], [2, 2]);
  assert.equal(named(spans, 'kong').attributes['error.type'], '503');
});

test('traces a request whose client disconnects', async () => {
  const asked = Promise.withResolvers<void>();
  await using silent = await startBackend({ handler: () => asked.resolve() });
  await write('PUT', '/services/silent', { url: silent.url });
  const path = await route(traced(), 'silent');
  const own = 'f'.repeat(32);
  const client = new AbortController();
  const headers = { traceparent: `00-${own}-${span}-01` };
  const answer = fetch(gateway.proxyUrl + path, { headers, signal: client.signal });
  await asked.promise;
  client.abort();
  await assert.rejects(answer);
  const spans = await receiver.trace(own);
  assert.deepEqual([named(spans, 'kong').status, named(spans, 'kong').message], [2, 'the client disconnected']);
  assert.equal(named(spans, 'kong').attributes['error.type'], 'aborted');
  assert.equal(named(spans, 'kong.balancer').attributes['http.status_code'], undefined);
});

test('traces HTTP/2 and gRPC', async () => {
  const path = await route(traced());
  await using client = await openHttp2(gateway.proxyPort);
  const own = 'b'.repeat(32);
  const answer = await client.request(path, { headers: { traceparent: `00-${own}-${span}-01` } });
  assert.equal(answer.status, 200);
  const seen = JSON.parse(answer.body.toString()) as EchoedRequest;
  assert.equal(parentOf(seen)[2], named(await receiver.trace(own), 'kong.balancer').spanId);
  assert.equal(named(await receiver.trace(own), 'kong').attributes['http.flavor'], '2.0');

  let metadata = '';
  await using grpc = await startGrpcBackend({
    unary(call: { metadata: { get(name: string): unknown[] } }, done: (error: null, value: object) => void) {
      metadata = String(call.metadata.get('traceparent')[0]);
      done(null, { text: 'ok' });
    },
  } as never);
  await write('PUT', '/services/grpc', { protocol: 'grpc', host: '127.0.0.1', port: grpc.port });
  await write('PUT', '/services/grpc/routes/grpc', { protocols: ['grpc', 'grpcs'], paths: ['/echo.v1.Echo'] });
  using caller = grpcClient(gateway.proxyPort);
  const { error } = await unary(caller, { text: 'hello' });
  assert.equal(error, null);
  const [, traceId = '', told] = metadata.split('-');
  const spans = await receiver.trace(traceId);
  assert.equal(named(spans, 'kong.balancer').spanId, told);
  const { attributes } = named(spans, 'kong');
  assert.deepEqual(
    [attributes['rpc.system'], attributes['rpc.service'], attributes['rpc.method']],
    ['grpc', 'echo.v1.Echo', 'Unary'],
  );
});

test('sends log records of all requests, with their trace ids', async () => {
  receiver.logs.length = 0;
  const path = await route(traced({ sampling_rate: 0, logs_endpoint: `${receiver.url}/v1/logs` }));
  const seen = await ask(`${path}?apikey=hidden`);
  await fetch(gateway.proxyUrl + path, { headers: { traceparent: `00-${'c'.repeat(32)}-${span}-01` } });
  await until(() => receiver.logs.length === 2);
  const [unsampled, sampled] = receiver.logs;
  assert.ok(unsampled !== undefined && sampled !== undefined);
  assert.equal(unsampled.traceId, parentOf(seen)[1]);
  assert.deepEqual([unsampled.flags, unsampled.spanId, unsampled.severity], [0, '', 9]);
  const record = JSON.parse(unsampled.body) as Record<string, Record<string, unknown>>;
  assert.deepEqual(record['trace_id'], { w3c: unsampled.traceId });
  assert.equal(record['request']?.['uri'], `${path}?apikey=REDACTED`);
  assert.equal(unsampled.attributes['http.response.status_code'], 200);
  assert.equal(sampled.flags, 1);
  assert.equal(sampled.spanId, named(await receiver.trace('c'.repeat(32)), 'kong').spanId);
});

async function counted(name: string): Promise<number> {
  const { body } = await gateway.admin('GET', '/status');
  const plugins = body['plugins'] as Record<string, Record<string, number>> | undefined;
  return plugins?.['opentelemetry']?.[name] ?? 0;
}

test('delays spans as a receiver requests, and drops them when it refuses', async () => {
  const path = await route(traced());
  let refusals = 0;
  let paused = 0;
  receiver.answerWith(() => {
    if (refusals++ > 0) return null;
    paused = performance.now();
    return { status: 503, headers: { 'Retry-After': '1' } };
  });
  const [, traceId = ''] = parentOf(await ask(path));
  await receiver.trace(traceId);
  assert.ok(performance.now() - paused > 900 && refusals >= 2);

  const droppedBefore = await counted('entries_dropped');
  receiver.answerWith(() => ({ status: 400 }));
  await ask(path);
  await until(async () => (await counted('entries_dropped')) >= droppedBefore + 4);
  receiver.answerWith(null);
});

test('keeps traffic unaffected and memory bounded with an unavailable receiver, and counts drops', async () => {
  const dropped = await counted('entries_dropped');
  const path = await route(
    traced({ traces_endpoint: 'http://127.0.0.1:1/v1/traces', queue: { ...quick, max_entries: 50 } }),
  );
  for (let at = 0; at < 40; at++) assert.equal(parentOf(await ask(path))[3], '01');
  // Each request has four spans or more; 50 are kept.
  await until(async () => (await counted('entries_dropped')) >= dropped + 100);
  assert.ok((await counted('delivery_failures')) > 0);
});

test('refuses invalid addresses and names the field', async () => {
  for (const [config, field] of [
    [{ traces_endpoint: 'collector' }, 'traces_endpoint'],
    [{ traces_endpoint: 'ftp://collector/' }, 'traces_endpoint'],
    [{ logs_endpoint: 'http://user:secret@' }, 'logs_endpoint'],
  ] as const) {
    const { status, body } = await gateway.admin('POST', '/plugins', { name: 'opentelemetry', config });
    assert.equal(status, 400);
    assert.ok(field in ((body['fields'] as Record<string, object>)['config'] ?? {}), JSON.stringify(body));
    assert.doesNotMatch(JSON.stringify(body), /secret/);
  }
});

test('sends buffered spans when the configuration is replaced and when the node stops', async () => {
  const slow = { max_coalescing_delay: 3600 };
  await using own = await startTestGateway({ settings: { plugins: ['opentelemetry'], workers: 2 } });
  const send = async (method: string, path: string, body: unknown): Promise<string> => {
    const answer = await own.admin(method, path, body);
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return String(answer.body['id']);
  };
  await send('PUT', '/services/s', { url: backend.url });
  await send('PUT', '/services/s/routes/r', { paths: ['/'] });
  const plugin = await send('POST', '/plugins', { name: 'opentelemetry', config: traced({ queue: slow }) });
  const trace = async (): Promise<string> => {
    const answer = await fetch(`${own.proxyUrl}/`, { headers: { connection: 'close' } });
    return parentOf((await answer.json()) as EchoedRequest)[1] ?? '';
  };
  const first = await trace();
  await send('PATCH', `/plugins/${plugin}`, { config: { resource_attributes: { changed: 'yes' } } });
  await receiver.trace(first);
  const last = await trace();
  await own.gateway.stop(true);
  await receiver.trace(last);
});

test('limits instrumentations, and forwards trace headers unchanged without any', async () => {
  for (const wanted of [new Set(['request', 'router']), new Set<string>()]) {
    await using own = await startTestGateway({
      settings: { plugins: ['opentelemetry'], tracing: { instrumentations: wanted, samplingRate: 1 } },
    });
    await own.admin('PUT', '/services/s', { url: backend.url });
    await own.admin('PUT', '/services/s/routes/r', { paths: ['/'] });
    await own.admin('POST', '/plugins', { name: 'opentelemetry', config: traced({ sampling_rate: null }) });
    const traceId = wanted.size > 0 ? 'd'.repeat(32) : 'e'.repeat(32);
    const answer = await fetch(`${own.proxyUrl}/`, { headers: { traceparent: `00-${traceId}-${span}-01` } });
    const told = parentOf((await answer.json()) as EchoedRequest);
    assert.equal(told[3], '01');
    if (wanted.size === 0) {
      assert.equal(told[2], span);
      await own.gateway.stop(true);
      assert.ok(!receiver.spans.some((one) => one.traceId === traceId));
      continue;
    }
    const spans = await receiver.trace(traceId);
    assert.deepEqual(spans.map(({ name }) => name).toSorted(), ['kong', 'kong.router']);
    assert.equal(told[2], named(spans, 'kong').spanId);
  }
});
