import assert from 'node:assert/strict';
import { test } from 'node:test';
import { created, NOW, patched, refusal } from './expect-row.fixture.ts';
import { services } from './services.ts';

const CERTIFICATE = { id: '0b0c7ffb-f03b-4be5-9f6a-8c1a4d3f4c10' };
const CONDITIONAL = "failed conditional validation given value of field 'protocol'";

test('a service has every field, with its default or null', () => {
  const { id, ...rest } = created(services, { host: 'example.com' });
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual(rest, {
    created_at: NOW,
    updated_at: NOW,
    name: null,
    retries: 5,
    protocol: 'http',
    host: 'example.com',
    port: 80,
    path: null,
    connect_timeout: 60000,
    write_timeout: 60000,
    read_timeout: 60000,
    tags: null,
    client_certificate: null,
    tls_verify: null,
    tls_verify_depth: null,
    ca_certificates: null,
    enabled: true,
  });
});

const urls: readonly [url: string, expected: Record<string, unknown>][] = [
  ['http://example.com', { protocol: 'http', host: 'example.com', port: 80, path: null }],
  ['https://example.com/a?b=c', { protocol: 'https', host: 'example.com', port: 443, path: '/a' }],
  ['http://example.com:8080/', { protocol: 'http', host: 'example.com', port: 8080, path: '/' }],
  ['https://[::1]:8443', { protocol: 'https', host: '::1', port: 8443, path: null }],
  ['grpc://example.com', { protocol: 'grpc', host: 'example.com', port: 80, path: null }],
];

for (const [url, expected] of urls) {
  test(`the url ${url} sets protocol, host, port and path`, () => {
    const { protocol, host, port, path } = created(services, { url, host: 'other', port: 1, path: '/other' });
    assert.deepEqual({ protocol, host, port, path }, expected);
  });
}

test('a url given in a PATCH replaces the path too', () => {
  const stored = created(services, { url: 'http://a/x' });
  const { host, path, port } = patched(services, stored, { url: 'https://b' });
  assert.deepEqual({ host, path, port }, { host: 'b', path: null, port: 443 });
});

const refusals: readonly [body: Record<string, unknown>, message: string][] = [
  [{}, 'schema violation (host: required field missing)'],
  [{ url: 'nonsense' }, '2 schema violations (host: required field missing; path: should start with: /)'],
  [{ url: 'http://' }, 'schema violation (host: required field missing)'],
  [{ url: 5 }, 'schema violation (url: expected a string)'],
  [{ url: 'http://a:b' }, 'schema violation (port: expected an integer)'],
  [
    { url: 'ftp://a' },
    'schema violation (protocol: expected one of: grpc, grpcs, http, https, tcp, tls, tls_passthrough, udp)',
  ],
  [{ host: 'a', port: 65536 }, 'schema violation (port: value should be between 0 and 65535)'],
  [{ host: 'a', retries: 32768 }, 'schema violation (retries: value should be between 0 and 32767)'],
  [{ host: 'a', connect_timeout: 0 }, 'schema violation (connect_timeout: value should be between 1 and 2147483646)'],
  [{ host: 'a', tls_verify_depth: 65 }, `2 schema violations (${CONDITIONAL}; tls_verify_depth: value must be null)`],
  [
    { host: 'a', protocol: 'https', tls_verify_depth: 65 },
    'schema violation (tls_verify_depth: value should be between 0 and 64)',
  ],
  [{ host: 'a:80' }, 'schema violation (host: must not have a port)'],
  [{ host: 'a b' }, 'schema violation (host: invalid value: a b)'],
  [{ host: 'a', path: 'x' }, 'schema violation (path: should start with: /)'],
  [{ host: 'a', path: '/a//b' }, 'schema violation (path: must not have empty segments)'],
  [
    { host: 'a', name: 'x y' },
    "schema violation (name: invalid value 'x y': the only accepted ascii characters are alphanumerics or ., -, _, and ~)",
  ],
  [{ host: 'a', protocol: 'tcp', path: '/x' }, `2 schema violations (${CONDITIONAL}; path: value must be null)`],
  [
    { host: 'a', client_certificate: CERTIFICATE },
    `2 schema violations (${CONDITIONAL}; client_certificate: value must be null)`,
  ],
  [
    { host: 'a', protocol: 'https', ca_certificates: ['x'] },
    'schema violation (ca_certificates.1: expected a valid UUID)',
  ],
  [{ host: 'a', nope: 1 }, 'schema violation (nope: unknown field)'],
  [
    { host: 'a', tags: ['a,b'] },
    "schema violation (tags.1: invalid tag 'a,b': expected printable ascii (except `,` and `/`) or valid utf-8 sequences)",
  ],
  [{ host: 'a', tags: [true] }, 'schema violation (tags.1: expected a string)'],
];

for (const [body, message] of refusals) {
  test(`${JSON.stringify(body)} is refused: ${message}`, () => {
    assert.equal(refusal(services, body), message);
  });
}

test('a service with TLS may have what belongs to TLS', () => {
  const row = created(services, { url: 'https://a', client_certificate: CERTIFICATE, tls_verify: true });
  assert.deepEqual([row['client_certificate'], row['tls_verify']], [CERTIFICATE, true]);
});
