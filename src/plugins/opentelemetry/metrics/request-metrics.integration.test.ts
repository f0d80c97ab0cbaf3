import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { startBackend } from '../../../../test/support/backend.ts';
import { startTestGateway } from '../../../../test/support/gateway.ts';
import { decodeMetrics, type ReceivedMetric, type ReceivedPoint } from '../../../../test/support/otlp-metrics.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../../../../test/support/otlp-receiver.ts';
import { answer, answerEach } from '../../../../test/support/raw-backend.ts';
import { exchangeToEnd } from '../../../../test/support/raw-client.ts';
import { type Rig, startRig } from '../../../../test/support/rig.ts';
import { until } from '../../../../test/support/until.ts';

let rig: Rig;
let receiver: OtlpReceiver;
let instance = '';

before(async () => {
  receiver = await startOtlpReceiver();
  rig = await startRig({
    settings: { plugins: ['opentelemetry'], workers: 2 },
    script: answerEach((request) => answer('hello', '', request.target.includes('broken') ? '500 Oh' : '200 OK')),
  });
  await rig.write('PUT', '/services/gone', { url: 'http://127.0.0.1:1', retries: 0 });
  await rig.write('PUT', '/services/gone/routes/gone', { paths: ['/gone'] });
  await rig.write('PATCH', '/routes/all', { paths: ['/all'] });
  const { id } = await rig.write('POST', '/plugins', {
    name: 'opentelemetry',
    config: { metrics: { endpoint: `${receiver.url}/v1/metrics`, push_interval: 0.2 } },
  });
  instance = String(id);
});
after(async () => {
  await rig.close();
  await receiver.close();
});

async function ask(path: string): Promise<number> {
  const response = await fetch(`${rig.gateway.proxyUrl}${path}`, { signal: AbortSignal.timeout(5_000) });
  await response.arrayBuffer();
  return response.status;
}

/** A metric in the last message that contains it. */
function latest(name: string): ReceivedMetric | undefined {
  return receiver.messages.flatMap(({ body }) => decodeMetrics(body)).findLast((metric) => metric.name === name);
}

function points(name: string, attributes: Readonly<Record<string, unknown>>): readonly ReceivedPoint[] {
  return (latest(name)?.points ?? []).filter((point) =>
    Object.entries(attributes).every(([key, value]) => point.attributes[key] === value),
  );
}

test('sends durations of requests and of backends, summed over all workers', async () => {
  for (let turn = 0; turn < 20; turn++) assert.equal(await ask('/all'), 200);
  assert.equal(await ask('/all/broken'), 500);
  assert.equal(await ask('/gone'), 502);
  assert.equal(await ask('/nowhere'), 404);
  const server = 'http.server.request.duration';
  const client = 'http.client.request.duration';
  await until(() => points(server, { 'http.response.status_code': 404 }).length > 0);
  const [plain] = points(server, { 'http.response.status_code': 200 });
  assert.deepEqual(plain?.attributes, {
    'http.request.method': 'GET',
    'url.scheme': 'http',
    'http.route': 'all',
    'http.response.status_code': 200,
    'network.protocol.version': '1.1',
  });
  assert.equal(plain?.count, 20);
  assert.equal(
    plain?.buckets.reduce((sum, count) => sum + count, 0),
    20,
  );
  assert.deepEqual(plain?.bounds.slice(0, 3), [0.005, 0.01, 0.025]);
  assert.ok(plain !== undefined && plain.sum > 0 && plain.sum < 20);
  const metric = latest(server);
  assert.deepEqual([metric?.kind, metric?.unit, metric?.temporality], ['histogram', 's', 2]);
  assert.equal(points(server, { 'http.response.status_code': 500 })[0]?.attributes['error.type'], '500');
  assert.equal(points(server, { 'http.response.status_code': 404 })[0]?.attributes['http.route'], undefined);
  assert.equal(points(server, { 'http.response.status_code': 404 })[0]?.attributes['error.type'], undefined);

  const [backend] = points(client, { 'http.response.status_code': 200 });
  assert.equal(backend?.count, 20);
  assert.deepEqual(backend?.attributes, {
    'http.request.method': 'GET',
    'url.scheme': 'http',
    'server.address': '127.0.0.1',
    'server.port': rig.backend.port,
    'http.response.status_code': 200,
  });
  const [failed] = points(client, { 'server.port': 1 });
  assert.deepEqual(
    [failed?.attributes['error.type'], failed?.attributes['http.response.status_code']],
    ['unavailable', undefined],
  );
  assert.ok(backend !== undefined && backend.sum <= plain.sum);
});

test('adds no label values for unknown methods of clients', async () => {
  for (const method of ['FROB', 'NICATE', 'GET-ALL', 'X'.repeat(40)]) {
    await exchangeToEnd(rig.port, `${method} /all HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  }
  await until(() => points('http.server.request.duration', { 'http.request.method': '_OTHER' })[0]?.count === 4);
  const methods = new Set(
    latest('http.server.request.duration')?.points.map((one) => one.attributes['http.request.method']),
  );
  assert.deepEqual([...methods].sort(), ['GET', '_OTHER']);
});

test('sends the metrics of the node too', async () => {
  await until(() => latest('kong_node_info') !== undefined);
  assert.equal(latest('kong_node_info')?.kind, 'gauge');
  assert.ok(
    receiver.messages
      .flatMap(({ body }) => decodeMetrics(body))
      .every(({ resource }) => resource['service.name'] === 'kong'),
  );
});

test('continues the sums with a changed configuration', async () => {
  const metrics = { endpoint: `${receiver.url}/v1/metrics`, push_interval: 0.2, node_metrics: false };
  await rig.write('PATCH', `/plugins/${instance}`, { config: { metrics } });
  receiver.messages.length = 0;
  await until(() => {
    const last = receiver.messages.at(-1);
    const names = last === undefined ? [] : decodeMetrics(last.body).map(({ name }) => name);
    return names.length > 0 && names.every((name) => name.startsWith('http.'));
  });
  assert.equal(await ask('/all'), 200);
  const all = () => points('http.server.request.duration', { 'http.route': 'all', 'http.response.status_code': 200 });
  await until(() => all().some(({ count, attributes }) => count === 21 && attributes['http.request.method'] === 'GET'));
});

test('sends the last requests when the node stops', async () => {
  await using last = await startRig({ settings: { plugins: ['opentelemetry'] } });
  await last.write('POST', '/plugins', {
    name: 'opentelemetry',
    config: { metrics: { endpoint: `${receiver.url}/v1/last`, push_interval: 3600, node_metrics: false } },
  });
  for (let turn = 0; turn < 3; turn++) await (await fetch(last.gateway.proxyUrl)).arrayBuffer();
  await last.gateway.gateway.stop(true);
  const [message] = receiver.messages.filter(({ path }) => path === '/v1/last');
  assert.equal(decodeMetrics(message!.body)[0]?.points[0]?.count, 3);
});

test('sends requests that end while the node stops', async () => {
  const held: ServerResponse[] = [];
  const backend = await startBackend({ handler: (_, response) => void held.push(response) });
  await using last = await startTestGateway({ settings: { plugins: ['opentelemetry'] } });
  await last.admin('POST', '/services', { name: 's', url: backend.url });
  await last.admin('POST', '/services/s/routes', { name: 'r', paths: ['/'] });
  await last.admin('POST', '/plugins', {
    name: 'opentelemetry',
    config: { metrics: { endpoint: `${receiver.url}/v1/late`, push_interval: 3600, node_metrics: false } },
  });
  const answer = fetch(last.proxyUrl);
  await until(() => held.length === 1);
  const stopped = last.gateway.stop(true);
  await until(() => refusesConnections(last.proxyPort));
  held[0]?.end('late');
  assert.equal(await (await answer).text(), 'late');
  await stopped;
  await backend.close();
  const [message] = receiver.messages.filter(({ path }) => path === '/v1/late');
  assert.equal(decodeMetrics(message!.body)[0]?.points[0]?.count, 1);
});

function refusesConnections(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    socket.on('error', () => resolve(true));
    socket.on('connect', () => {
      socket.destroy();
      resolve(false);
    });
  });
}

test('refuses an invalid endpoint and names the field', async () => {
  for (const [endpoint, reason] of [
    ['collector:4318', /endpoint/],
    ['ftp://collector/v1/metrics', /http/],
    ['http://', /host/],
  ] as const) {
    const { status, body } = await rig.gateway.admin('POST', '/routes/all/plugins', {
      name: 'opentelemetry',
      config: { metrics: { endpoint } },
    });
    assert.equal(status, 400);
    const { config } = body['fields'] as { config: { metrics: { endpoint: string } } };
    assert.match(`endpoint ${config.metrics.endpoint}`, reason);
  }
});
