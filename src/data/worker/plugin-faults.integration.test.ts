import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Rig, startRig } from '../../../test/support/rig.ts';
import { secured } from '../../../test/support/tls-client.ts';
import { until } from '../../../test/support/until.ts';

const plugin = join(import.meta.dirname, '../../../test/support/plugins/mishaps.ts');
const token = 'debug-token-of-a-test';

interface Line {
  readonly msg: string;
  readonly level: string;
  readonly [field: string]: unknown;
}

let rig: Rig;
before(async () => {
  rig = await startRig({
    env: {
      KONG_PLUGINS: `bundled,${plugin}`,
      KONG_PROXY_LISTEN: '127.0.0.1:0, 127.0.0.1:0 ssl',
      KONG_STREAM_LISTEN: '127.0.0.1:0',
      KONG_REQUEST_DEBUG_TOKEN: token,
      SLUICEGATE_WORKER_TIMEOUT: '2500ms',
    },
  });
  await rig.write('POST', '/plugins', { name: 'prometheus' });
});
after(() => rig?.close());

async function log(): Promise<readonly Line[]> {
  const text = await readFile(join(rig.gateway.prefix, 'error.log'), 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

/** The first line of the error log, after the first `from`, that is as wanted. */
async function logged(from: number, isWanted: (line: Line) => boolean): Promise<Line> {
  let found: Line | undefined;
  await until(async () => {
    found = (await log()).slice(from).find(isWanted);
    return found !== undefined;
  });
  return found as Line;
}

async function workers(): Promise<unknown> {
  return ((await rig.gateway.admin('GET', '/')).body['pids'] as { readonly workers: unknown }).workers;
}

/** A route with one instance, whose mishap is `does`; returns its path. */
async function routeWith(does: string): Promise<string> {
  const name = `r-${createHash('sha1').update(does).digest('hex').slice(0, 12)}`;
  await rig.write('PUT', `/services/backend/routes/${name}`, { paths: [`/${name}`], strip_path: false });
  await rig.write('POST', `/routes/${name}/plugins`, { name: 'mishaps', config: { does } });
  return `/${name}`;
}

async function get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return await fetch(rig.gateway.proxyUrl + path, { headers: { connection: 'close', ...headers } });
}

const isFailure = (line: Line): boolean => line.msg === 'plugin failed' && line['plugin'] === 'mishaps';
const here = /mishaps\.ts:\d+:\d+$/;

for (const where of ['access', 'asyncAccess']) {
  for (const how of ['throw', 'text', 'nothing', 'hostile', 'huge', 'cyclic']) {
    test(`${how} in ${where} is the 500 of that request, and the worker goes on`, async () => {
      const running = await workers();
      const path = await routeWith(`${where} ${how}`);
      const from = (await log()).length;
      const response = await get(path);
      assert.equal(response.status, 500);
      assert.deepEqual(await response.json(), { message: 'An unexpected error occurred' });
      const line = await logged(from, isFailure);
      assert.equal(line['phase'], 'access');
      assert.match(String(line['request_id']), /^[0-9a-f]{32}$/);
      if (['throw', 'huge', 'cyclic'].includes(how)) {
        assert.match(String(line['at']), here);
        assert.match(String(line['error']), /a mishap/);
      }
      const text = JSON.stringify(line);
      assert.ok(text.length < 40_000, `${text.length} characters`);
      assert.ok(!text.includes('hunter2'), 'only messages and stacks are logged');
      assert.equal((await get('/')).status, 200);
      assert.deepEqual(await workers(), running);
    });
  }
}

const outcomes: readonly (readonly [where: string, status: number | null])[] = [
  ['backendAnswer', 200],
  ['response', 500],
  ['headerFilter', 200],
  ['bodyFilter', null],
  ['log', 200],
  ['setup', 500],
];
for (const [where, status] of outcomes) {
  const outcome = status === null ? 'has no whole answer' : `is answered with ${status}`;
  test(`a request during which ${where} throws ${outcome}, and the log has file and line`, async () => {
    const from = (await log()).length;
    const path = await routeWith(`${where} throw`);
    const answered = await get(path)
      .then(async (response) => {
        await response.text();
        return response.status;
      })
      .catch(() => null);
    if (status === null) assert.notEqual(answered, 200);
    else assert.equal(answered, status);
    if (where === 'setup') {
      const line = await logged(from, ({ msg, reason }) => `${msg} ${reason}`.includes('a mishap'));
      assert.match(JSON.stringify(line), /mishaps\.ts:\d+:\d+/);
      return;
    }
    const line = await logged(from, (one) => isFailure(one) && one['phase'] === where);
    assert.match(String(line['at']), here);
  });
}

test('a throw in backendFailure leaves the error of the gateway', async () => {
  await rig.write('PUT', '/services/dead', { url: 'http://127.0.0.1:1', retries: 0 });
  await rig.write('PUT', '/services/dead/routes/dead', { paths: ['/dead'] });
  await rig.write('POST', '/routes/dead/plugins', { name: 'mishaps', config: { does: 'backendFailure throw' } });
  const from = (await log()).length;
  assert.equal((await get('/dead')).status, 502);
  assert.match(String((await logged(from, isFailure))['at']), here);
});

test('a throw in rewrite is a 500, before any route matched', async () => {
  const from = (await log()).length;
  const { id } = await rig.write('POST', '/plugins', { name: 'mishaps', config: { does: 'rewrite throw' } });
  assert.equal((await get('/')).status, 500);
  await rig.write('DELETE', `/plugins/${id}`);
  assert.equal((await logged(from, isFailure))['phase'], 'rewrite');
});

test('a throw in certificate leaves the choice to the gateway, and the handshake succeeds', async () => {
  const from = (await log()).length;
  const { id } = await rig.write('POST', '/plugins', { name: 'mishaps', config: { does: 'certificate throw' } });
  const socket = await secured(rig.gateway.proxyTlsPort, { servername: 'any.test' });
  socket.destroy();
  await rig.write('DELETE', `/plugins/${id}`);
  const line = await logged(from, isFailure);
  assert.equal(line['phase'], 'certificate');
  assert.match(String(line['at']), here);
});

test('a throw in dispose is logged, and the next configuration is in effect', async () => {
  const from = (await log()).length;
  const { id } = await rig.write('POST', '/plugins', { name: 'mishaps', config: { does: 'dispose throw' } });
  assert.equal((await get('/')).status, 200);
  await rig.write('DELETE', `/plugins/${id}`);
  assert.equal((await logged(from, isFailure))['phase'], 'dispose');
});

test('a throw in accept closes the stream, one in streamLog changes nothing; both are logged', async () => {
  const [listener] = rig.gateway.gateway.addresses.stream;
  await rig.write('PUT', '/services/tcp', { protocol: 'tcp', host: '127.0.0.1', port: rig.backend.port });
  await rig.write('PUT', '/services/tcp/routes/tcp', {
    protocols: ['tcp'],
    destinations: [{ port: listener?.port ?? 0 }],
  });
  for (const where of ['accept', 'streamLog']) {
    const from = (await log()).length;
    const { id } = await rig.write('POST', '/routes/tcp/plugins', {
      name: 'mishaps',
      protocols: ['tcp'],
      config: { does: `${where} throw` },
    });
    const socket = connect(listener?.port ?? 0, '127.0.0.1').on('error', () => {});
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes;
      socket.end();
    });
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await new Promise((resolve) => socket.on('close', resolve));
    assert.equal(received.startsWith('HTTP/1.1 200'), where === 'streamLog');
    const line = await logged(from, isFailure);
    assert.equal(line['phase'], where);
    assert.match(String(line['at']), here);
    await rig.write('DELETE', `/plugins/${id}`);
  }
});

for (const how of ['timer', 'timer-text', 'timer-exit', 'listener', 'rejection']) {
  test(`a plugin with a ${how} after its phase does not end the worker`, async () => {
    const running = await workers();
    const path = await routeWith(`access ${how}`);
    const from = (await log()).length;
    assert.equal((await get(path)).status, 200);
    const line = await logged(from, ({ msg }) => msg === 'plugin failed outside of a request; continuing');
    if (how !== 'timer-text' && how !== 'listener') {
      assert.equal(line['plugin'], 'mishaps');
      assert.match(String(line['at']), here);
    }
    assert.equal((await get('/')).status, 200);
    assert.deepEqual(await workers(), running);
  });
}

test('a flood of exceptions of one place has few lines, and each is counted', async () => {
  const running = await workers();
  const path = await routeWith('access flood');
  const counted = async (): Promise<number> => {
    const page = await (await fetch(`${rig.gateway.statusUrl}/metrics`)).text();
    const [, count = '0'] =
      /^sluicegate_plugin_failures_total\{plugin="mishaps",phase="outside"\} (\d+)/m.exec(page) ?? [];
    return Number(count);
  };
  const from = (await log()).length;
  const first = await counted();
  assert.equal((await get(path)).status, 200);
  await until(async () => (await counted()) >= first + 500);
  const lines = (await log()).slice(from).filter(({ error }) => String(error).includes('a mishap in a flood'));
  assert.ok(lines.length > 0 && lines.length < 10, `${lines.length} lines`);
  assert.deepEqual(await workers(), running);
});

for (const how of ['exit', 'abort', 'kill', 'chdir']) {
  test(`process.${how} in a plugin throws, and names it`, async () => {
    const running = await workers();
    const path = await routeWith(`access ${how}`);
    const from = (await log()).length;
    assert.equal((await get(path)).status, 500);
    const line = await logged(from, isFailure);
    assert.match(String(line['error']), new RegExp(`plugin 'mishaps' called process\\.${how}\\(\\)`));
    assert.match(String(line['at']), here);
    assert.deepEqual(await workers(), running);
  });
}

test('what cannot be sent between threads does not end the worker', async () => {
  const running = await workers();
  const path = await routeWith('access uncloneable');
  const from = (await log()).length;
  assert.equal((await get(path)).status, 200);
  const line = await logged(from, ({ msg }) => msg === 'not sent');
  assert.match(String(line['reason']), /cannot be sent to the control plane/);
  await until(async () => {
    const page = await (await fetch(`${rig.gateway.statusUrl}/metrics`)).text();
    return page.includes('event="Symbol(odd)"');
  });
  assert.equal((await get('/')).status, 200);
  assert.deepEqual(await workers(), running);
});

test('an answer of a background part that cannot be sent rejects the call', async () => {
  const path = await routeWith('access uncloneable-answer');
  const from = (await log()).length;
  assert.equal((await get(path)).status, 200);
  const line = await logged(from, ({ msg }) => msg === 'no answer');
  assert.match(String(line['reason']), /cannot be sent to a worker/);
});

for (const [onExceeded, status, decided] of [
  ['skip', 200, 'skipped: over its budget of 50 ms'],
  ['refuse', 503, 'refused: over its budget of 50 ms'],
] as const) {
  test(`a plugin over its time budget (${onExceeded}) is in the log, in metrics and in explanations`, async () => {
    const path = await routeWith(`${onExceeded} wait`);
    const from = (await log()).length;
    assert.equal((await get(path)).status, status);
    const line = await logged(from, ({ msg }) => msg === 'plugin exceeded its time budget');
    assert.deepEqual([line['plugin'], line['phase'], line['budget_ms']], ['mishaps', 'access', 50]);
    const explained = await get(path, { 'x-sluicegate-explain': '1', 'x-kong-request-debug-token': token });
    const { plugins } = (await explained.json()) as {
      readonly plugins: readonly { readonly name: string; readonly phases: readonly { readonly decided: string }[] }[];
    };
    assert.equal(plugins.find(({ name }) => name === 'mishaps')?.phases[0]?.decided, decided);
    const page = await (await fetch(`${rig.gateway.statusUrl}/metrics`)).text();
    const outcome = onExceeded === 'skip' ? 'skipped' : 'refused';
    assert.match(
      page,
      new RegExp(`^sluicegate_plugin_over_budget_total\\{plugin="mishaps",outcome="${outcome}"\\} 2`, 'm'),
    );
  });
}

test('a transform that returns no bytes fails with a name, and the worker goes on', async () => {
  const running = await workers();
  const path = await routeWith('transform text');
  const from = (await log()).length;
  const status = await get(path)
    .then(async (response) => {
      await response.text();
      return response.status;
    })
    .catch(() => null);
  assert.notEqual(status, 200);
  const line = await logged(from, (one) => isFailure(one) && one['phase'] === 'bodyFilter');
  assert.match(String(line['error']), /the transform returned a string/);
  assert.deepEqual(await workers(), running);
});

test('the time of a plugin is in Server-Timing, in explanations and in metrics', async () => {
  const path = await routeWith('headerFilter none');
  const debugged = await get(path, { 'x-kong-request-debug': '*', 'x-kong-request-debug-token': token });
  assert.match(debugged.headers.get('server-timing') ?? '', /plugin-mishaps;dur=[\d.]+/);
  const explained = await get(path, { 'x-sluicegate-explain': '1', 'x-kong-request-debug-token': token });
  const document = (await explained.json()) as {
    readonly plugins: readonly { readonly name: string; readonly ms: number }[];
    readonly timeline: readonly { readonly what: string }[];
  };
  assert.equal(typeof document.plugins.find(({ name }) => name === 'mishaps')?.ms, 'number');
  assert.ok(document.timeline.some(({ what }) => what === 'plugin mishaps header_filter'));
  await until(async () => {
    await Promise.all(Array.from({ length: 32 }, () => get(path)));
    const page = await (await fetch(`${rig.gateway.statusUrl}/metrics`)).text();
    return /^sluicegate_plugin_sampled_seconds_total\{plugin="mishaps",phase="header_filter"\} [\d.e-]+/m.test(page);
  });
});

for (const where of ['rewrite loop', 'access loop', 'log loop', 'access timer-loop']) {
  test(`the watchdog names plugin, file and line of: ${where}`, async () => {
    const from = (await log()).length;
    const [phase = ''] = where.split(' ');
    const global = phase === 'rewrite';
    const path = global ? '/' : await routeWith(where);
    const { id } = global
      ? await rig.write('POST', '/plugins', { name: 'mishaps', config: { does: where } })
      : { id: null };
    const request = get(path).catch(() => null);
    const line = await logged(from, ({ msg }) => msg === 'worker does not respond and is replaced');
    assert.equal(line['plugin'], 'mishaps', JSON.stringify(line));
    assert.match(String(line['at']), /^\S+ \(\/.*mishaps\.ts:\d+\)$/);
    if (where.endsWith(' loop')) assert.equal(line['phase'], phase);
    await request;
    if (id !== null) await rig.write('DELETE', `/plugins/${id}`);
    await until(async () => (await fetch(`${rig.gateway.statusUrl}/status/ready`)).status === 200);
    assert.equal((await get('/')).status, 200);
  });
}

test('a throw in drain is logged when the node stops', async (t) => {
  const other = await startRig({ env: { KONG_PLUGINS: plugin } });
  t.after(() => other.close());
  await other.write('POST', '/plugins', { name: 'mishaps', config: { does: 'drain throw' } });
  const file = join(other.gateway.prefix, 'error.log');
  await other.gateway.gateway.stop(true);
  const text = await readFile(file, 'utf8');
  assert.match(text, /"phase":"drain".*mishaps\.ts:\d+:\d+/);
});
