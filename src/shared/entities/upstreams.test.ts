import assert from 'node:assert/strict';
import { test } from 'node:test';
import { created, patched, refusal } from './expect-row.fixture.ts';
import { upstreams } from './upstreams.ts';

const HASH_ON = "failed conditional validation given value of field 'hash_on'";
const HASH_FALLBACK = "failed conditional validation given value of field 'hash_fallback'";

test('the health checks are complete in every upstream', () => {
  const row = created(upstreams, { name: 'a', healthchecks: { active: { healthy: { interval: 5 } } } });
  assert.deepEqual(row['healthchecks'], {
    active: {
      type: 'http',
      timeout: 1,
      concurrency: 10,
      http_path: '/',
      https_sni: null,
      https_verify_certificate: true,
      headers: null,
      healthy: { interval: 5, successes: 0, http_statuses: [200, 302] },
      unhealthy: {
        interval: 0,
        tcp_failures: 0,
        timeouts: 0,
        http_failures: 0,
        http_statuses: [429, 404, 500, 501, 502, 503, 504, 505],
      },
    },
    passive: {
      type: 'http',
      healthy: {
        successes: 0,
        http_statuses: [200, 201, 202, 203, 204, 205, 206, 207, 208, 226, 300, 301, 302, 303, 304, 305, 306, 307, 308],
      },
      unhealthy: { tcp_failures: 0, timeouts: 0, http_failures: 0, http_statuses: [429, 500, 503] },
    },
    threshold: 0,
  });
});

type Hashing = readonly [algorithm: string, hashOn: string];

const posts: readonly [body: Record<string, unknown>, expected: Hashing][] = [
  [{}, ['round-robin', 'none']],
  [{ algorithm: 'consistent-hashing' }, ['round-robin', 'none']],
  [{ algorithm: 'consistent-hashing', hash_on: 'none' }, ['round-robin', 'none']],
  [{ algorithm: 'consistent-hashing', hash_on: 'ip' }, ['consistent-hashing', 'ip']],
  [{ hash_on: 'ip' }, ['consistent-hashing', 'ip']],
  [{ algorithm: 'round-robin', hash_on: 'ip' }, ['consistent-hashing', 'ip']],
  [{ algorithm: 'least-connections' }, ['least-connections', 'none']],
  [{ algorithm: 'least-connections', hash_on: 'ip' }, ['least-connections', 'none']],
  [{ algorithm: 'latency', hash_on: null }, ['latency', 'none']],
];

for (const [body, expected] of posts) {
  test(`POST ${JSON.stringify(body)} is stored as ${expected.join(', ')}`, () => {
    const row = created(upstreams, { name: 'a', ...body });
    assert.deepEqual([row['algorithm'], row['hash_on']], expected);
  });
}

const patches: readonly [stored: Record<string, unknown>, patch: Record<string, unknown>, expected: Hashing][] = [
  [{ hash_on: 'ip' }, { algorithm: 'round-robin' }, ['consistent-hashing', 'ip']],
  [{ hash_on: 'ip' }, { hash_on: null }, ['round-robin', 'none']],
  [{ hash_on: 'ip' }, { hash_on: 'none' }, ['round-robin', 'none']],
  [{ hash_on: 'ip' }, { algorithm: 'latency' }, ['latency', 'none']],
  [{ algorithm: 'least-connections' }, { hash_on: 'ip' }, ['consistent-hashing', 'ip']],
  [{ algorithm: 'least-connections' }, { slots: 10 }, ['least-connections', 'none']],
  [{ hash_on: 'ip' }, { slots: 10 }, ['consistent-hashing', 'ip']],
];

for (const [stored, patch, expected] of patches) {
  test(`PATCH ${JSON.stringify(patch)} on ${JSON.stringify(stored)} gives ${expected.join(', ')}`, () => {
    const row = patched(upstreams, created(upstreams, { name: 'a', ...stored }), patch);
    assert.deepEqual([row['algorithm'], row['hash_on']], expected);
  });
}

const refusals: readonly [body: Record<string, unknown>, message: string][] = [
  [{}, 'schema violation (name: required field missing)'],
  [{ name: '1.2.3.4' }, "schema violation (name: Invalid name ('1.2.3.4'); no ip addresses allowed)"],
  [{ name: 'a:80' }, "schema violation (name: Invalid name ('a:80'); no port allowed)"],
  [{ name: 'a b' }, "schema violation (name: Invalid name ('a b'); must be a valid hostname)"],
  [{ name: 'a', slots: 9 }, 'schema violation (slots: value should be between 10 and 65536)'],
  [{ name: 'a', host_header: 'a b' }, 'schema violation (host_header: invalid hostname: a b)'],
  [{ name: 'a', hash_on: 'header' }, `2 schema violations (${HASH_ON}; hash_on_header: required field missing)`],
  [{ name: 'a', hash_on: 'cookie' }, `2 schema violations (${HASH_ON}; hash_on_cookie: required field missing)`],
  [{ name: 'a', hash_on: 'query_arg' }, `2 schema violations (${HASH_ON}; hash_on_query_arg: required field missing)`],
  [
    { name: 'a', hash_on: 'ip', hash_fallback: 'header' },
    `2 schema violations (${HASH_FALLBACK}; hash_fallback_header: required field missing)`,
  ],
  [{ name: 'a', hash_fallback: 'ip' }, `2 schema violations (${HASH_ON}; hash_fallback: expected one of: none)`],
  [
    { name: 'a', hash_on: 'ip', hash_fallback: 'ip' },
    `2 schema violations (${HASH_ON}; hash_fallback: expected one of: none, consumer, header, cookie, path, query_arg, uri_capture)`,
  ],
  [
    { name: 'a', hash_on: 'header', hash_on_header: 'x', hash_fallback: 'header', hash_fallback_header: 'x' },
    "schema violation (values of these fields must be distinct: 'hash_on_header', 'hash_fallback_header')",
  ],
  [
    { name: 'a', hash_on: 'nope' },
    'schema violation (hash_on: expected one of: none, consumer, ip, header, cookie, path, query_arg, uri_capture)',
  ],
  [
    { name: 'a', healthchecks: { active: { healthy: { successes: 256 } } } },
    'schema violation (healthchecks.active: {\n  healthy = {\n    successes = "value should be between 0 and 255"\n  }\n})',
  ],
  [
    { name: 'a', healthchecks: { threshold: 101 } },
    'schema violation (healthchecks.threshold: value should be between 0 and 100)',
  ],
];

for (const [body, message] of refusals) {
  test(`${JSON.stringify(body)} is refused: ${message}`, () => {
    assert.equal(refusal(upstreams, body), message);
  });
}

test('a PATCH of the health checks changes only what it names', () => {
  const stored = created(upstreams, { name: 'a', healthchecks: { threshold: 5 } });
  const { healthchecks } = patched(upstreams, stored, { healthchecks: { active: { type: 'tcp' } } });
  assert.equal((healthchecks as { threshold: number }).threshold, 5);
  assert.equal((healthchecks as { active: { type: string } }).active.type, 'tcp');
});
