import assert from 'node:assert/strict';
import { test } from 'node:test';
import { created, patched, patchRefusal, refusal } from './expect-row.fixture.ts';
import { routes } from './routes.ts';

const SNIS = "'snis' can only be set when 'protocols' is 'grpcs', 'https', 'tls' or 'tls_passthrough'";
const NEEDS_HTTPS = "must set one of 'methods', 'hosts', 'headers', 'paths', 'snis' when 'protocols' is 'https'";
const NEEDS_HTTP = "must set one of 'methods', 'hosts', 'headers', 'paths' when 'protocols' is 'http'";

test('a route has every field, with its default or null', () => {
  const { id: _id, created_at: _created, updated_at: _updated, ...rest } = created(routes, { paths: ['/a'] });
  assert.deepEqual(rest, {
    name: null,
    protocols: ['http', 'https'],
    https_redirect_status_code: 426,
    strip_path: true,
    preserve_host: false,
    request_buffering: true,
    response_buffering: true,
    tags: null,
    service: null,
    methods: null,
    hosts: null,
    paths: ['/a'],
    headers: null,
    regex_priority: 0,
    path_handling: 'v0',
    sources: null,
    destinations: null,
    snis: null,
  });
});

const accepted: readonly [what: string, body: Record<string, unknown>][] = [
  ['snis alone for https', { snis: ['*.a.com'] }],
  ['snis alone for tls_passthrough', { protocols: ['tls_passthrough'], snis: ['a.com'] }],
  ['sources for tcp', { protocols: ['tcp'], sources: [{ ip: '10.0.0.0/8' }, { port: 80 }] }],
  ['paths for grpc', { protocols: ['grpc'], paths: ['/x'] }],
  ['headers with a regular expression', { headers: { 'x-a': ['~*^a+$'] } }],
  ['spaces and brackets in a fixed path', { paths: ['/a b('] }],
  ['a regular expression as a path', { paths: ['~/users/(?<id>\\d+)$'] }],
];

for (const [what, body] of accepted) {
  test(`${what} is enough for a route`, () => {
    created(routes, body);
  });
}

test('the path is not stripped for gRPC by default', () => {
  assert.equal(created(routes, { protocols: ['grpc'], hosts: ['a.b'] })['strip_path'], false);
});

test('paths and methods keep their order, sets lose repetitions', () => {
  const row = created(routes, { paths: ['/b', '/a', '/b'], methods: ['PUT', 'GET', 'PUT'] });
  assert.deepEqual(
    [row['paths'], row['methods']],
    [
      ['/b', '/a', '/b'],
      ['PUT', 'GET'],
    ],
  );
});

const refusals: readonly [body: Record<string, unknown>, message: string][] = [
  [{}, `schema violation (${NEEDS_HTTPS})`],
  [{ protocols: ['http'] }, `schema violation (${NEEDS_HTTP})`],
  [{ protocols: ['https'], paths: [] }, `schema violation (${NEEDS_HTTPS})`],
  [
    { protocols: ['grpc'] },
    "schema violation (must set one of 'hosts', 'headers', 'paths' when 'protocols' is 'grpc')",
  ],
  [
    { protocols: ['grpcs'] },
    "schema violation (must set one of 'hosts', 'headers', 'paths', 'snis' when 'protocols' is 'grpcs')",
  ],
  [
    { protocols: ['tcp'] },
    "schema violation (must set one of 'sources', 'destinations', 'snis' when 'protocols' is 'tcp', 'tls' or 'udp')",
  ],
  [{ protocols: ['tls_passthrough'] }, "schema violation (must set snis when 'protocols' is 'tls_passthrough')"],
  [{ protocols: [] }, 'schema violation (protocols: unknown type: nil)'],
  [
    { protocols: ['http', 'tcp'], paths: ['/'] },
    "schema violation (protocols: these sets are mutually exclusive: ('http', 'https'), ('tcp', 'tls', 'udp'), ('tls_passthrough'), ('grpc', 'grpcs'))",
  ],
  [{ protocols: ['http'], paths: ['/'], snis: ['a.b'] }, `2 schema violations (${SNIS}; snis: length must be 0)`],
  [
    { paths: ['/'], sources: [{ port: 1 }] },
    "schema violation (sources: cannot set 'sources' when 'protocols' is 'http' or 'https')",
  ],
  [
    { protocols: ['tcp'], paths: ['/'], sources: [{ port: 1 }] },
    "schema violation (paths: cannot set 'paths' when 'protocols' is 'tcp', 'tls', 'tls_passthrough' or 'udp')",
  ],
  [
    { protocols: ['grpc'], hosts: ['a.b'], methods: ['GET'], strip_path: true },
    "2 schema violations (methods: cannot set 'methods' when 'protocols' is 'grpc' or 'grpcs'; strip_path: cannot set 'strip_path' when 'protocols' is 'grpc' or 'grpcs')",
  ],
  [{ methods: ['get'] }, 'schema violation (methods.1: invalid value: get)'],
  [{ paths: ['/a', 'b'] }, 'schema violation (paths.2: should start with: / (fixed path) or ~/ (regex path))'],
  [{ paths: ['/a/./b'] }, "schema violation (paths.1: non-normalized path, consider use '/a/b' instead)"],
  [{ paths: ['/a//b'] }, 'schema violation (paths.1: must not have empty segments)'],
  [{ hosts: ['a b'] }, 'schema violation (hosts.1: invalid hostname: a b)'],
  [{ hosts: ['*.a.*'] }, 'schema violation (hosts.1: invalid wildcard: must have at most one wildcard)'],
  [
    { headers: { HOST: ['a'] } },
    "schema violation (headers.HOST: cannot contain 'host' header, which must be specified in the 'hosts' attribute)",
  ],
  [{ headers: { 'x-a': [] } }, 'schema violation (headers.x-a: length must be at least 1)'],
  [
    { protocols: ['tcp'], sources: [{ ip: 'x' }] },
    `schema violation (sources.1: {\n  ip = "invalid ip or cidr range: 'x'"\n})`,
  ],
  [
    { paths: ['/'], https_redirect_status_code: 303 },
    'schema violation (https_redirect_status_code: expected one of: 426, 301, 302, 307, 308)',
  ],
  [{ paths: ['/'], expression: 'x' }, 'schema violation (expression: unknown field)'],
  [{ paths: ['/'], service: { id: 'x' } }, 'schema violation (service.id: expected a valid UUID)'],
];

for (const [body, message] of refusals) {
  test(`${JSON.stringify(body)} is refused: ${message}`, () => {
    assert.equal(refusal(routes, body), message);
  });
}

test('a PATCH is validated as a whole', () => {
  const stored = created(routes, { paths: ['/a'] });
  assert.deepEqual(patched(routes, stored, { hosts: ['a.b'], paths: null })['paths'], null);
  assert.equal(patchRefusal(routes, stored, { paths: null }), `schema violation (${NEEDS_HTTPS})`);
});
