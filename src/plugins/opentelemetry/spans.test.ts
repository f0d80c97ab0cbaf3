import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestTrace } from '../../plugin-kit/telemetry/propagation/index.ts';
import type { LogContext, TraceSpan } from '../../plugin-sdk/index.ts';
import { spansOf } from './spans.ts';

/* What becomes of what is recorded; that it is recorded at all is seen through a gateway. */

const all = new Set(['router', 'http_client', 'balancer', 'plugin_access', 'dns_query', 'plugin_header_filter']);

function recorded(kind: TraceSpan['kind'], start: number, end: number, facts: TraceSpan['facts'] = {}): TraceSpan {
  return { kind, name: kind, start, end, facts };
}

function contextOf(
  spans: readonly TraceSpan[],
  change: Partial<LogContext['measures']> = {},
  status = 200,
): LogContext {
  return {
    request: {
      id: 'x',
      method: 'GET',
      scheme: 'http',
      host: 'a',
      port: 80,
      path: '/users/7',
      httpVersion: '1.1',
      header: () => null,
    },
    client: { ip: '::1', peerIp: '::1', port: 4000, consumer: null },
    connection: { tls: null },
    route: { id: 'r', name: 'users', tags: [] },
    service: null,
    response: { status, source: 'gateway', header: () => null },
    measures: { startedAt: 1000, total: 50, aborted: false, tries: 1, ...change },
    trace: { spans },
    record: () => ({
      request: { url: 'http://a:80/users/7', uri: '/users/7', headers: {} },
      route: { paths: ['/', '/users', '~/users/\\d+$', '/other'] },
    }),
  } as unknown as LogContext;
}

const trace: RequestTrace = {
  remote: null,
  traceId: '0af7651916cd43dd8448eb211c80319c',
  short: false,
  sampled: true,
  isSent: true,
  spanId: 'b7ad6b7169203331',
  attempts: new Map([[1, 'a7ad6b7169203331']]),
};

test('ends open spans with the request', () => {
  const [root, attempt] = spansOf(contextOf([recorded('attempt', 1010, 0, { try: 1 })]), trace, all);
  assert.deepEqual([root?.start, root?.end], [1000, 1050]);
  assert.deepEqual([attempt?.start, attempt?.end], [1010, 1050]);
});

test('puts a connection below its attempt, else below the request', () => {
  const spans = [
    recorded('router', 1001, 1002),
    recorded('attempt', 1010, 1020, { try: 1 }),
    recorded('attempt', 1012, 1014, { try: 1 }),
    recorded('connect', 1016, 1018),
    recorded('connect', 1030, 1031),
  ];
  const made = spansOf(contextOf(spans), trace, all);
  const connects = made.filter(({ name }) => name === 'kong.balancer.connect');
  assert.deepEqual(
    connects.map(({ parentId }) => parentId),
    ['a7ad6b7169203331', trace.spanId],
  );
});

test('marks failures as errors', () => {
  const spans = [
    recorded('dns', 1001, 1002, { found: false }),
    recorded('balancer', 1002, 1003, { failed: true }),
    recorded('attempt', 1010, 1020, { try: 2, failed: true, status: 502, cause: 'ECONNREFUSED' }),
    recorded('plugin', 1021, 1022, { phase: 'access', decided: 'failed' }),
    recorded('attempt', 1023, 1024, { try: 3, status: 404 }),
  ];
  const [root, ...made] = spansOf(contextOf(spans, {}, 502), trace, all);
  assert.deepEqual(
    made.map(({ error }) => error),
    ['not found', 'no target', 'ECONNREFUSED', 'failed', 'status 404'],
  );
  assert.equal(root?.error, 'status 502');
  assert.equal(made[2]?.attributes['http.status_code'], undefined);
  assert.equal(made[3]?.name, 'kong.access.plugin.plugin');
  const [gone] = spansOf(contextOf([], { aborted: true }, 0), trace, all);
  assert.equal(gone?.error, 'the client disconnected');
  assert.equal(gone?.attributes['http.status_code'], undefined);
});

test('keeps only the configured kinds of spans', () => {
  const spans = [recorded('router', 1001, 1002), recorded('dns', 1001, 1002), recorded('attempt', 1003, 1004)];
  const names = (wanted: readonly string[]) =>
    spansOf(contextOf(spans), trace, new Set(wanted)).map(({ name }) => name);
  assert.deepEqual(names(['router']), ['kong', 'kong.router']);
  assert.deepEqual(names(['balancer', 'dns_query']), ['kong', 'kong.dns', 'kong.balancer']);
});

test('names the route by the longest matching path', () => {
  assert.equal(spansOf(contextOf([]), trace, all)[0]?.attributes['http.route'], '/users');
});

test('finds route paths that are not ASCII', () => {
  const context = contextOf([]);
  const path = Buffer.from('/über/7').toString('latin1');
  const record = { request: { url: '', uri: path, headers: {} }, route: { paths: ['/other', '/über'] } };
  const request = { ...context.request, path };
  const [root] = spansOf({ ...context, request, record: () => record } as unknown as LogContext, trace, all);
  assert.equal(root?.attributes['http.route'], '/über');
});
