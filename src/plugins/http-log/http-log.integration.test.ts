import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { after, before, test } from 'node:test';
import {
  answer,
  answerEach,
  type BackendScript,
  type RawBackend,
  startRawBackend,
} from '../../../test/support/raw-backend.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';
import { startStreamRig } from '../../../test/support/stream-rig.ts';
import { until } from '../../../test/support/until.ts';

let rig: Rig;
let serial = 0;
const receivers: RawBackend[] = [];

before(async () => {
  rig = await startRig({ settings: { plugins: ['http-log', 'key-auth'] } });
});
after(async () => {
  await rig.close();
  await Promise.all(receivers.map((receiver) => receiver.close()));
});

async function receiver(script?: BackendScript): Promise<RawBackend> {
  const made = await startRawBackend(script);
  receivers.push(made);
  return made;
}

interface LoggedRoute {
  readonly path: string;
  readonly plugin: string;
}

/** A route whose requests are logged. */
async function route(http_endpoint: string, config: Readonly<Record<string, unknown>> = {}): Promise<LoggedRoute> {
  const name = `l${serial++}`;
  await rig.write('PUT', `/services/backend/routes/${name}`, { paths: [`/${name}`] });
  const made = await rig.write('POST', `/routes/${name}/plugins`, {
    name: 'http-log',
    config: { http_endpoint, ...config },
  });
  return { path: `/${name}`, plugin: String(made['id']) };
}

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(`${rig.gateway.proxyUrl}${path}`, { signal: AbortSignal.timeout(5_000), ...init });
  await response.arrayBuffer();
  return response;
}

/** The fields of a record that the tests read. */
interface Entry {
  readonly request: Readonly<Record<string, unknown>> & { readonly headers: Readonly<Record<string, unknown>> };
  readonly response: Readonly<Record<string, unknown>>;
  readonly service: Readonly<Record<string, unknown>>;
  readonly route: Readonly<Record<string, unknown>>;
  readonly upstream_status: string;
  readonly source: string;
  readonly tenant?: string;
  readonly answered?: number;
}

/** The records of all requests that a receiver got, in order. */
function recordsOf(target: RawBackend): readonly Entry[] {
  return target.requests.flatMap(({ body }) => JSON.parse(Buffer.from(body, 'latin1').toString()) as Entry | Entry[]);
}

/** The plugin's counters, summed over the gateway. */
async function counts(): Promise<Readonly<Record<string, number>>> {
  const { body } = await rig.gateway.admin('GET', '/status');
  return (body['plugins'] as Record<string, Record<string, number>>)['http-log'] ?? {};
}

/** Waits until a counter has grown by this number. */
async function grown(before: Readonly<Record<string, number>>, name: string, by: number): Promise<void> {
  await until(async () => ((await counts())[name] ?? 0) - (before[name] ?? 0) >= by);
}

test('sends one object for each request, with the fields of Kong', async () => {
  const target = await receiver();
  const { path } = await route(`http://ada:lovelace@127.0.0.1:${target.port}/logs?from=gateway`, {
    method: 'PUT',
    headers: { 'X-Key': 'secret' },
    custom_fields: { tenant: '$(headers.x_tenant)' },
    custom_fields_by_lua: { 'request.headers.cookie': 'return nil', answered: 'return kong.response.get_status()' },
  });
  const response = await ask(`${path}/x?a=1&b&a=2`, {
    headers: { 'X-Tenant': 'blue', Cookie: 'id=1', apikey: 'secret' },
  });
  const request = await target.request(({ target: at }) => at === '/logs?from=gateway');
  assert.deepEqual([request.method, request.get('content-type')], ['PUT', 'application/json']);
  assert.equal(request.get('x-key'), 'secret');
  assert.equal(request.get('authorization'), `Basic ${Buffer.from('ada:lovelace').toString('base64')}`);
  const [record] = recordsOf(target);
  assert.equal(record?.request['id'], response.headers.get('x-kong-request-id'));
  const sent = record?.response['headers'] as Readonly<Record<string, string>>;
  for (const name of ['x-kong-request-id', 'x-kong-upstream-latency', 'x-kong-proxy-latency']) {
    assert.equal(sent[name], response.headers.get(name), name);
  }
  assert.equal(record?.request['uri'], `${path}/x?a=1&b&a=2`);
  assert.deepEqual(record?.request['querystring'], { a: ['1', '2'], b: true });
  assert.deepEqual([record?.response['status'], record?.upstream_status, record?.tenant], [200, '200', 'blue']);
  assert.deepEqual([record?.request.headers['cookie'], record?.request.headers['apikey']], [undefined, 'REDACTED']);
  assert.equal(record?.answered, 200);
  assert.equal(record?.service['name'], 'backend');
  for (const key of ['latencies', 'tries', 'client_ip', 'started_at', 'upstream_uri', 'source', 'workspace_name']) {
    assert.ok(record !== undefined && key in record, key);
  }
});

test('sends the records of a batch as a list, when it is full or after the delay', async () => {
  const full = { max_batch_size: 3, max_coalescing_delay: 3600 };
  const late = { max_batch_size: 100, max_coalescing_delay: 0.05 };
  for (const [queue, count] of [[full, 3] as const, [late, 1] as const]) {
    const target = await receiver();
    const { path } = await route(target.url, { queue });
    for (let turn = 0; turn < count; turn++) await ask(`${path}/${turn}`);
    await until(() => target.requests.length === 1);
    assert.ok(Array.isArray(JSON.parse(target.requests[0]?.body ?? '')));
    assert.deepEqual(
      recordsOf(target).map(({ request }) => request['uri']),
      Array.from({ length: count }, (_, turn) => `${path}/${turn}`),
    );
  }
});

test('accepts the deprecated fields for the batch size', async () => {
  const target = await receiver();
  const { path } = await route(target.url, { retry_count: 3, queue_size: 2, flush_timeout: 3600 });
  for (let turn = 0; turn < 2; turn++) await ask(path);
  await until(() => recordsOf(target).length === 2);
  assert.equal(target.requests.length, 1);
});

test('retries after errors, redirects and resets, and loses no record', async () => {
  const failures: readonly ((serial: number) => string | null)[] = [
    () => answer('', '', '500 Internal Server Error'),
    () => answer('', 'Location: /else\r\n', '307 Temporary Redirect'),
    () => null,
  ];
  const target = await receiver(async (connection) => {
    for (;;) {
      const request = await connection.readRequest();
      const failure = failures[target.requests.indexOf(request)];
      const bytes = failure === undefined ? answer('ok') : failure(connection.serial);
      if (bytes === null) connection.reset();
      else connection.write(bytes);
    }
  });
  const { path } = await route(target.url);
  await ask(`${path}/one`);
  await ask(`${path}/two`);
  await until(() => target.requests.length === failures.length + 2);
  assert.deepEqual(
    recordsOf(target).map(({ request }) => request['uri']),
    [...Array(4).fill(`${path}/one`), `${path}/two`],
  );
});

test('drops a batch after max_retry_time, and sends the next one', async () => {
  const target = await receiver(
    answerEach(({ body }) => answer('', '', body.includes('/bad') ? '404 Not Found' : '200 OK')),
  );
  const before = await counts();
  const { path } = await route(target.url, { queue: { max_retry_time: 0.1 } });
  await ask(`${path}/bad`);
  await ask(`${path}/good`);
  await grown(before, 'entries_dropped', 1);
  await until(() => target.requests.some(({ body }) => body.includes('/good')));
});

test('an unresponsive or unavailable receiver affects no request; excess records are dropped and counted', async () => {
  const silent = await receiver(async (connection) => {
    await connection.readRequest();
  });
  const gone = await startRawBackend();
  const goneUrl = gone.url;
  await gone.close();
  for (const url of [silent.url, goneUrl]) {
    const before = await counts();
    const { path } = await route(url, { queue: { max_entries: 5 } });
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask(path)));
    assert.ok(answers.every(({ status }) => status === 200));
    await grown(before, 'entries_dropped', 35);
  }
});

test('logs refused requests, whose content cannot forge a record', async () => {
  const target = await receiver();
  const { path } = await route(target.url);
  await rig.write('POST', `/routes/${path.slice(1)}/plugins`, { name: 'key-auth' });
  const hostile = '"}\u2028{"forged":1}';
  const { status } = await ask(`${path}?x=%0d%0a&${encodeURIComponent(hostile)}`, {
    headers: { 'X-Hostile': '\\"},{"forged":true,"x":"' },
  });
  assert.equal(status, 401);
  await until(() => target.requests.length === 1);
  const [record] = recordsOf(target);
  assert.equal(record?.request.headers['x-hostile'], '\\"},{"forged":true,"x":"');
  assert.equal('forged' in (record ?? {}), false);
  assert.deepEqual([record?.response['status'], record?.upstream_status, record?.source], [401, '', 'kong']);
});

test('logs the current values of a changed route', async () => {
  const target = await receiver();
  const { path } = await route(target.url);
  await ask(path);
  await rig.write('PATCH', `/routes${path}`, { tags: ['changed'] });
  await ask(path);
  await until(() => target.requests.length === 2);
  assert.deepEqual(
    recordsOf(target).map((record) => record.route['tags']),
    [undefined, ['changed']],
  );
});

test('sends all records of a replaced configuration', async () => {
  const target = await receiver();
  const { path, plugin } = await route(target.url, { queue: { max_batch_size: 100, max_coalescing_delay: 3600 } });
  await ask(path);
  assert.equal(target.requests.length, 0);
  await rig.write('PATCH', `/plugins/${plugin}`, { config: { timeout: 5000 } });
  await until(() => recordsOf(target).length === 1);
});

test('logs streams for instances with their protocol', async () => {
  const target = await receiver();
  const echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  await using streams = await startStreamRig([''], { plugins: ['http-log'] });
  await streams.route(
    'echo',
    { port: (echo.address() as AddressInfo).port },
    { destinations: [{ port: streams.ports[0] }] },
  );
  await streams.write('POST', '/routes/echo/plugins', {
    name: 'http-log',
    protocols: ['tcp'],
    config: { http_endpoint: target.url, custom_fields: { client: '$(client.ip)', header: '$(headers.x)' } },
  });
  const client = connect(streams.ports[0] ?? 0, '127.0.0.1');
  client.write('hello');
  await once(client, 'data');
  client.end();
  await until(() => target.requests.length === 1);
  echo.close();
  const record = JSON.parse(target.requests[0]?.body ?? '') as Readonly<
    Record<string, Readonly<Record<string, unknown>>>
  >;
  assert.deepEqual([record['session']?.['received'], record['session']?.['sent']], [5, 5]);
  assert.deepEqual([record['client'], 'header' in record, record['route']?.['name']], ['127.0.0.1', false, 'echo']);
});

test('sends buffered records when the node stops', async () => {
  const target = await receiver();
  const other = await startRig({ settings: { plugins: ['http-log'] } });
  await other.write('POST', '/plugins', {
    name: 'http-log',
    config: { http_endpoint: target.url, queue: { max_batch_size: 100, max_coalescing_delay: 3600 } },
  });
  for (let turn = 0; turn < 3; turn++) await (await fetch(other.gateway.proxyUrl)).arrayBuffer();
  await other.gateway.gateway.stop(true);
  await other.close();
  assert.equal(recordsOf(target).length, 3);
});
