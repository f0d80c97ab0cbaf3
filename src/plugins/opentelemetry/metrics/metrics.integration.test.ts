import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, beforeEach, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import '../../../../test/support/file-end.ts';
import { decodeMetrics, partialSuccess, type ReceivedMetric } from '../../../../test/support/otlp-metrics.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../../../../test/support/otlp-receiver.ts';
import { until } from '../../../../test/support/until.ts';
import type { BackgroundTools, MetricFamily } from '../../../plugin-sdk/index.ts';
import { testSettings } from '../../../plugin-testing/index.ts';
import { metricsBackground } from './background.ts';
import type { MetricsConfig } from './metrics-config.ts';

const receiver: OtlpReceiver = await startOtlpReceiver();
const queue = {
  max_batch_size: 200,
  max_coalescing_delay: 1,
  max_entries: 10_000,
  max_bytes: null,
  max_retry_time: 60,
  initial_retry_delay: 0.01,
  max_retry_delay: 60,
  concurrency_limit: 1,
};

beforeEach(() => {
  receiver.messages.length = 0;
  receiver.answerWith(null);
});
after(() => receiver.close());

interface Rig extends AsyncDisposable {
  readonly counts: Map<string, number>;
  readonly lines: { readonly message: string; readonly fields: Readonly<Record<string, unknown>> }[];
  stop(): Promise<void>;
}

/** The background part of the plugin, with metric families of the test. */
function startPushing(
  families: () => readonly MetricFamily[],
  metrics: Partial<MetricsConfig['metrics']> = {},
  more: Partial<MetricsConfig> = {},
): Rig {
  const counts = new Map<string, number>();
  const lines: Rig['lines'][number][] = [];
  const log = (message: string, fields: Readonly<Record<string, unknown>> = {}): void =>
    void lines.push({ message, fields });
  const ending = new AbortController();
  const tools: BackgroundTools = {
    log: { debug: log, info: log, warn: log, error: log },
    settings: testSettings,
    nodeId: 'node-1',
    store: {} as BackgroundTools['store'],
    zone: () => null,
    broadcast: async () => false,
    metrics: async () => families(),
    count: (name, by = 1) => void counts.set(name, (counts.get(name) ?? 0) + by),
    signal: ending.signal,
  };
  const part = metricsBackground(tools);
  const config: MetricsConfig = {
    metrics: {
      endpoint: `${receiver.url}/v1/metrics`,
      push_interval: 0.1,
      node_metrics: true,
      request_metrics: false,
      ...metrics,
    },
    headers: { 'X-Key': 'secret' },
    resource_attributes: { 'deployment.environment': 'test' },
    connect_timeout: 1000,
    send_timeout: 1000,
    read_timeout: 1000,
    queue,
    ...more,
  };
  part.configured([{ id: 'instance-1', config }]);
  const stop = async (): Promise<void> => {
    ending.abort();
    await part.stop();
  };
  return { counts, lines, stop, [Symbol.asyncDispose]: stop };
}

function received(): readonly ReceivedMetric[] {
  return receiver.messages.flatMap(({ body }) => decodeMetrics(body));
}

async function firstMetrics(): Promise<readonly ReceivedMetric[]> {
  await until(() => receiver.messages.length > 0);
  return decodeMetrics(receiver.messages[0]!.body);
}

const requests = (value: number): MetricFamily => ({
  name: 'kong_http_requests_total',
  help: 'Requests.',
  type: 'counter',
  labelNames: ['route', 'code', 'consumer'],
  series: [
    { labels: ['a', '200', ''], value },
    { labels: ['b"\n\ud800', '404', 'ada'], value: 0 },
  ],
});

test('sends counters, gauges and histograms with their types', async () => {
  const families: readonly MetricFamily[] = [
    requests(7),
    {
      name: 'kong_memory_bytes',
      help: 'Memory.',
      type: 'gauge',
      labelNames: [],
      series: [{ labels: [], value: -1.5 }],
    },
    {
      name: 'kong_request_latency_ms',
      help: 'Latency.',
      type: 'histogram',
      labelNames: ['route'],
      bounds: [1, 5, 10],
      series: [{ labels: ['a'], counts: new Float64Array([1, 0, 2, 4]), sum: 99.5 }],
    },
    { name: 'empty_total', help: 'None.', type: 'counter', labelNames: [], series: [] },
    { name: 'odd', help: 'Odd.', type: 'gauge', labelNames: [], series: [{ labels: [], value: Number.NaN }] },
  ];
  await using _ = startPushing(() => families);
  const before = BigInt(Date.now()) * 1_000_000n;
  const metrics = await firstMetrics();
  assert.deepEqual(
    metrics.map(({ name }) => name),
    ['kong_http_requests_total', 'kong_memory_bytes', 'kong_request_latency_ms'],
  );
  const [counter, gauge, histogram] = metrics as [ReceivedMetric, ReceivedMetric, ReceivedMetric];
  assert.deepEqual(
    [counter.kind, counter.temporality, counter.monotonic, counter.description],
    ['sum', 2, true, 'Requests.'],
  );
  assert.deepEqual(
    counter.points.map(({ attributes, value }) => [attributes, value]),
    [
      [{ route: 'a', code: '200' }, 7],
      [{ route: 'b"\n\ufffd', code: '404', consumer: 'ada' }, 0],
    ],
  );
  const { start, time } = counter.points[0]!;
  assert.ok(start > 0n && start < before && time >= before - 1_000_000_000n && time <= before + 60_000_000_000n);
  assert.deepEqual([gauge.kind, gauge.unit, gauge.points[0]?.value, gauge.points[0]?.start], ['gauge', 'By', -1.5, 0n]);
  const point = histogram.points[0]!;
  assert.deepEqual([histogram.kind, histogram.unit, histogram.temporality, point.start], ['histogram', 'ms', 2, start]);
  assert.deepEqual([point.count, point.sum, point.buckets, point.bounds], [7, 99.5, [1, 0, 2, 4], [1, 5, 10]]);
  assert.equal(counter.scope, 'sluicegate');
  assert.equal(counter.resource['service.name'], 'kong');
  assert.equal(counter.resource['service.instance.id'], 'node-1');
  assert.equal(counter.resource['deployment.environment'], 'test');
  const { headers } = receiver.messages[0]!;
  assert.deepEqual([headers['content-type'], headers['x-key']], ['application/x-protobuf', 'secret']);
});

test('continues sums from one export to the next, and restarts them after a reset', async () => {
  let value = 10;
  await using _ = startPushing(() => [requests(value)]);
  const pointsOf = () => received().map(({ points }) => points[0]!);
  await until(() => pointsOf().length >= 2);
  assert.equal(pointsOf()[0]?.start, pointsOf()[1]?.start);
  value = 3;
  await until(() => pointsOf().some((point) => point.value === 3 && point.start > pointsOf()[0]!.time));
  const fresh = pointsOf().find((point) => point.start > pointsOf()[0]!.time)!;
  assert.ok(fresh.start < fresh.time);
});

test('sends a hundred thousand series in bounded messages without blocking the event loop', async () => {
  const total = 100_000;
  function* series() {
    for (let at = 0; at < total; at++) yield { labels: [`route-${at}`, '200', `consumer-${at % 10}`], value: at };
  }
  const large: MetricFamily = { ...requests(0), series: { [Symbol.iterator]: series } } as MetricFamily;
  const sink = await startSink();
  const rig = startPushing(() => [large], { endpoint: sink.url, push_interval: 0.5 });
  const stretches = watchStretches();
  await until(() => (rig.counts.get('metric_points_sent') ?? 0) >= total, 20_000);
  const longest = stretches.stop();
  await rig.stop();
  const { messages } = await sink.close();
  assert.ok(messages.every(({ bytes }) => bytes <= 160 * 1024));
  assert.ok(messages.length >= 100);
  const values = messages.flatMap(({ body }) => decodeMetrics(body)).flatMap(({ points }) => points);
  assert.equal(new Set(values.slice(0, total).map(({ value }) => value)).size, total);
  // The aim is 10 ms; the measurement includes garbage collection.
  assert.ok(longest < 20, `${longest} ms`);
});

for (const status of [429, 502, 503, 504]) {
  test(`retries a message that is answered with ${status}, after the delay that the receiver requests`, async () => {
    const times: number[] = [];
    receiver.answerWith(() => {
      times.push(performance.now());
      return times.length > 1 ? null : { status, headers: status === 503 ? { 'Retry-After': '1' } : {} };
    });
    await using rig = startPushing(() => [requests(1)], { push_interval: status === 503 ? 1.5 : 0.3 });
    await until(() => (rig.counts.get('metric_points_sent') ?? 0) > 0);
    const [first, second] = receiver.messages;
    assert.deepEqual(first?.body, second?.body);
    const pause = (times[1] ?? 0) - (times[0] ?? 0);
    if (status === 503) assert.ok(pause >= 990, `${pause} ms`);
    else assert.ok(pause < 900, `${pause} ms`);
    assert.equal(rig.counts.get('metric_points_dropped'), undefined);
  });
}

test('waits for a Retry-After that is longer than the timeout', async () => {
  const times: number[] = [];
  receiver.answerWith(() => {
    times.push(performance.now());
    return { status: 429, headers: { 'Retry-After': '1' } };
  });
  await using rig = startPushing(() => [requests(1)], { push_interval: 0.1 });
  await until(() => times.length >= 2);
  assert.ok((times[1] ?? 0) - (times[0] ?? 0) >= 990);
  assert.ok((rig.counts.get('metric_points_dropped') ?? 0) >= 2);
});

test('drops, counts and logs a refused message at once, and sends the next ones', async () => {
  receiver.answerWith(() => (receiver.messages.length > 1 ? null : { status: 400 }));
  await using rig = startPushing(() => [requests(1)]);
  await until(() => (rig.counts.get('metric_points_sent') ?? 0) > 0);
  assert.equal(rig.counts.get('metric_points_dropped'), 2);
  assert.match(String(rig.lines[0]?.fields['reason']), /status 400/);
});

test('counts the points that a receiver rejects, and logs one line', async () => {
  receiver.answerWith(() => ({ status: 200, body: partialSuccess(1, 'too old\nforged line') }));
  await using rig = startPushing(() => [requests(1)]);
  await until(() => rig.lines.length > 0);
  assert.deepEqual(rig.lines[0]?.fields, { message: '1 of 2 points: too old forged line' });
  assert.deepEqual([rig.counts.get('metric_points_sent'), rig.counts.get('metric_points_rejected')], [1, 1]);
});

test('treats an unreadable answer as no answer', async () => {
  receiver.answerWith(() => ({ status: 200, body: Buffer.from('<html>') }));
  await using rig = startPushing(() => [requests(1)]);
  await until(() => (rig.counts.get('metric_points_sent') ?? 0) >= 2);
});

test('queues nothing while the receiver is unavailable: late exports count as dropped, and sums stay complete', async () => {
  const gone = await startOtlpReceiver();
  await gone.close();
  await using rig = startPushing(() => [requests(5)], { endpoint: `${gone.url}/v1/metrics?key=secret` });
  await until(() => (rig.counts.get('metric_points_dropped') ?? 0) >= 4);
  assert.equal(rig.lines.length, 1);
  assert.ok(!JSON.stringify(rig.lines).includes('secret'));
});

test('logs a family that fails, and sends the others', async () => {
  const broken = {
    ...requests(1),
    name: 'broken_total',
    series: {
      [Symbol.iterator]: () => {
        throw new Error('no memory');
      },
    },
  } as unknown as MetricFamily;
  await using rig = startPushing(() => [broken, requests(1)]);
  assert.deepEqual(
    (await firstMetrics()).map(({ name }) => name),
    ['kong_http_requests_total'],
  );
  assert.match(String(rig.lines[0]?.fields['reason']), /broken_total: no memory/);
});

test('sends metrics once more when the node stops, with a short timeout', async () => {
  const rig = startPushing(() => [requests(9)], { push_interval: 3600 });
  await rig.stop();
  assert.equal(received()[0]?.points[0]?.value, 9);

  receiver.answerWith(() => ({ status: 503, headers: { 'Retry-After': '60' } }));
  const late = startPushing(() => [requests(9)], { push_interval: 3600 });
  const begin = performance.now();
  await late.stop();
  assert.ok(performance.now() - begin < 2_500);
});

interface Sink {
  readonly url: string;
  close(): Promise<{ readonly messages: readonly { readonly bytes: number; readonly body: Uint8Array }[] }>;
}

/** A receiver in another thread, so that its work is not measured. */
async function startSink(): Promise<Sink> {
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads');
     const bodies = [];
     const server = require('node:http').createServer((request, response) => {
       const pieces = [];
       request.on('data', (piece) => pieces.push(piece));
       request.on('end', () => { bodies.push(Buffer.concat(pieces)); response.end(); });
     });
     server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
     parentPort.on('message', () => parentPort.postMessage(bodies.map((body) => Uint8Array.from(body))));`,
    { eval: true },
  );
  const [port] = await once(worker, 'message');
  return {
    url: `http://127.0.0.1:${port}/v1/metrics`,
    async close() {
      worker.postMessage('end');
      const [bodies] = (await once(worker, 'message')) as [Uint8Array[]];
      await worker.terminate();
      return { messages: bodies.map((body) => ({ bytes: body.byteLength, body })) };
    },
  };
}

/**
 * The longest CPU time (milliseconds) of this thread between two turns of the event loop: unlike a delay, it does not depend
 * on the load of the machine.
 */
function watchStretches(): { stop(): number } {
  let longest = 0;
  let stopped = false;
  let last = process.threadCpuUsage();
  const turn = (): void => {
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, (user + system) / 1000);
    last = process.threadCpuUsage();
    if (!stopped) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    stop() {
      stopped = true;
      return longest;
    },
  };
}
