import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { TraceSpan } from '../../src/plugin-sdk/trace.ts';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';

/** The records of requests, as a plugin receives them. */

const tracer = fileURLToPath(new URL('../support/plugins/tracer.ts', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'sluicegate-traces-'));
const drained = join(directory, 'drained');

interface Finished {
  readonly path: string;
  readonly spans: readonly TraceSpan[] | null;
  readonly measured: Readonly<Record<string, number>>;
  readonly draw: number;
}

let gateway: TestGateway;
let backend: TestBackend;

before(async () => {
  backend = await startBackend();
  gateway = await startTestGateway({
    settings: { plugins: ['key-auth', 'response-headers', 'aggregate', tracer] },
  });
  await create('/plugins', { name: 'tracer', config: { rate: 1, drained } });
  await create('/services', { name: 's', url: backend.url });
  await create('/services/s/routes', { name: 'r', paths: ['/'] });
  await create('/upstreams', { name: 'u', healthchecks: { passive: { unhealthy: { tcp_failures: 0 } } } });
  // No server listens on the first; the request goes to the second.
  await create('/upstreams/u/targets', { target: '127.0.0.1:1', weight: 1000 });
  await create('/upstreams/u/targets', { target: new URL(backend.url).host, weight: 1000 });
  await create('/services', { name: 'balanced', host: 'u', protocol: 'http' });
  await create('/services/balanced/routes', { name: 'b', paths: ['/balanced'] });
  await create('/services', { name: 'named', url: `http://localhost:${new URL(backend.url).port}` });
  await create('/services/named/routes', { name: 'n', paths: ['/named'] });
  await create('/services/s/routes', { name: 'locked', paths: ['/locked'] });
  await create('/routes/locked/plugins', { name: 'key-auth' });
  await create('/services/s/routes', { name: 'composed', paths: ['/composed'] });
  const requests = ['one', 'two'].map((name) => ({ name, service: 's', path: `/${name}` }));
  await create('/routes/composed/plugins', { name: 'aggregate', config: { requests } });
});
after(async () => {
  await gateway.stop();
  await backend.close();
  rmSync(directory, { recursive: true, force: true });
});

async function create(path: string, body: Readonly<Record<string, unknown>>): Promise<string> {
  const answer = await gateway.admin('POST', path, body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return String(answer.body['id']);
}

async function finished(): Promise<Finished> {
  const all: Finished[] = [];
  await until(async () => {
    const answer = await fetch(`${gateway.proxyUrl}/spans`);
    all.push(...((await answer.json()) as { finished: Finished[] }).finished);
    return all.length > 0;
  });
  assert.equal(all.length, 1);
  return all[0] as Finished;
}

async function traced(path: string, headers: Record<string, string> = {}): Promise<Finished> {
  const answer = await fetch(gateway.proxyUrl + path, { headers });
  await answer.arrayBuffer();
  return finished();
}

function inOrder(spans: readonly TraceSpan[] | null): readonly string[] {
  return (spans ?? []).map(({ kind, name, facts }) => {
    const what = kind === 'plugin' ? `${name} ${facts['phase']}` : kind;
    return facts['decided'] === undefined ? what : `${what}: ${facts['decided']}`;
  });
}

test('a proxied request is recorded from the router to the end of the answer', async () => {
  const before = Date.now();
  const { spans, measured, draw } = await traced('/plain');
  assert.deepEqual(inOrder(spans), [
    'tracer rewrite',
    'router',
    'tracer access',
    'attempt',
    'connect',
    'tracer headerFilter',
  ]);
  for (const { start, end } of spans ?? []) {
    assert.ok(start >= before - 1 && end >= start && end <= Date.now() + 1, JSON.stringify({ start, end, before }));
  }
  const attempt = spans?.find(({ kind }) => kind === 'attempt');
  const { hostname, port } = new URL(backend.url);
  assert.deepEqual(attempt?.facts, {
    try: 1,
    ip: hostname,
    port: Number(port),
    host: hostname,
    pooled: false,
    status: 200,
  });
  assert.ok(draw >= 0 && draw < 1);
  assert.equal(measured['upstreamStatus'], 200);
  assert.equal(measured['tries'], 1);
  const { total = 0, gateway: own = 0, upstream = 0, receive = 0 } = measured;
  assert.ok(Math.abs(total - own - upstream - receive) < 0.001 && upstream > 0);
});

test('a reply of a plugin is recorded', async () => {
  const { spans, measured } = await traced('/locked');
  assert.deepEqual(inOrder(spans).slice(1, 4), ['router', 'tracer access', 'key-auth access: status 401']);
  assert.equal(measured['upstream'], -1);
  assert.equal(measured['gateway'], measured['total']);
});

test('names, balancing decisions and failed attempts are recorded', async () => {
  const named = await traced('/named');
  const dns = named.spans?.find(({ kind }) => kind === 'dns');
  assert.equal(dns?.name, 'localhost');
  let failed: Finished | null = null;
  for (let at = 0; at < 2 && failed === null; at++) {
    const one = await traced('/balanced');
    if (one.measured['tries'] === 2) failed = one;
  }
  const attempts = failed?.spans?.filter(({ kind }) => kind === 'attempt') ?? [];
  assert.equal(failed?.spans?.filter(({ kind }) => kind === 'balancer').length, 2);
  assert.deepEqual(
    attempts.map(({ facts }) => [facts['try'], facts['failed'] ?? false, facts['status']]),
    [
      [1, true, 502],
      [2, false, 200],
    ],
  );
  assert.ok(attempts.every(({ start, end }) => end >= start));
});

test('calls of plugins to backends are recorded with their request', async () => {
  const { spans } = await traced('/composed');
  assert.equal(spans?.filter(({ kind }) => kind === 'attempt').length, 2);
});

test('requests that match no route are recorded', async () => {
  const routes = (await gateway.admin('GET', '/routes')).body['data'] as { id: string; name: string }[];
  const all = routes.find(({ name }) => name === 'r');
  await gateway.admin('PATCH', '/routes/r', { hosts: ['elsewhere.test'] });
  const answer = await fetch(`${gateway.proxyUrl}/nowhere`);
  assert.equal(answer.status, 404);
  await gateway.admin('PATCH', `/routes/${all?.id}`, { hosts: null });
  assert.deepEqual(inOrder((await finished()).spans).slice(0, 2), ['tracer rewrite', 'router']);
});

test('the sampling rate and a header of the client decide', async () => {
  const { body } = await gateway.admin('GET', '/plugins');
  const plugin = (body['data'] as { id: string; name: string }[]).find(({ name }) => name === 'tracer');
  await gateway.admin('PATCH', `/plugins/${plugin?.id}`, { config: { rate: 0, header: 'X-Traced' } });
  assert.equal((await traced('/off')).spans, null);
  assert.ok(((await traced('/on', { 'x-traced': '1' })).spans?.length ?? 0) > 3);
  assert.equal((await traced('/off', { 'x-other': 'x-traced: 1' })).spans, null);
});

test('plugins are drained when the node stops', async () => {
  assert.ok(!existsSync(drained));
  await gateway.gateway.stop(true);
  assert.ok(existsSync(drained));
});
