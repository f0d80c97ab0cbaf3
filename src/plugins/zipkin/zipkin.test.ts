import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from '../../plugin-testing/index.ts';
import { clientTags } from './client-tags.ts';
import zipkin from './index.ts';

test('has the defaults of Kong', async () => {
  const result = await testPlugin(zipkin).check({});
  assert.equal(result.ok, true);
  const { queue, propagation, ...config } = (result as { config: Record<string, Record<string, unknown>> }).config;
  assert.equal(queue?.['max_batch_size'], 1);
  assert.deepEqual(propagation, { extract: null, clear: null, inject: null, default_format: 'b3' });
  assert.deepEqual(config, {
    local_service_name: 'kong',
    http_endpoint: null,
    sample_ratio: 0.001,
    default_service_name: null,
    include_credential: true,
    traceid_byte_count: 16,
    header_type: 'preserve',
    default_header_type: 'b3',
    tags_header: 'Zipkin-Tags',
    static_tags: null,
    http_span_name: 'method',
    connect_timeout: 2000,
    send_timeout: 5000,
    read_timeout: 5000,
    http_response_header_for_traceid: null,
    phase_duration_flavor: 'annotations',
  });
});

for (const [config, message] of [
  [{ http_endpoint: 'zipkin:9411' }, /config.http_endpoint: missing host in url/],
  [{ http_endpoint: 'http://zipkin:0/api' }, /config.http_endpoint: port must not be 0/],
  [{ traceid_byte_count: 12 }, /config.traceid_byte_count: expected one of: 8, 16/],
  [{ static_tags: [{ name: 'lc', value: 'x' }] }, /static_tags.*must not be one of/s],
  [{ sample_ratio: 2 }, /config.sample_ratio: value should be between 0 and 1/],
  [{ default_header_type: 'preserve' }, /config.default_header_type: expected one of/],
] as const) {
  test(`refuses ${JSON.stringify(config)}`, async () => {
    const result = await testPlugin(zipkin).check(config as Record<string, unknown>);
    assert.equal(result.ok, false);
    assert.match((result as { message: string }).message, message);
  });
}

test('limits tags of clients, and accepts only pairs', () => {
  assert.deepEqual({ ...clientTags(['a=1; b=2=3;;junk; =x; c=', 'd=4']) }, { a: '1', b: '2=3', c: '', d: '4' });
  assert.equal(Object.keys(clientTags([Array.from({ length: 100 }, (_, at) => `k${at}=v`).join(';')])).length, 32);
  assert.deepEqual({ ...clientTags([`${'n'.repeat(129)}=1;v=${'x'.repeat(1025)};ok=1`]) }, { ok: '1' });
  assert.deepEqual(Object.keys(clientTags(['__proto__=1'])), ['__proto__']);
});

test('refuses reserved tags of clients, and reads only the start of a long line', () => {
  const forged =
    'kong.consumer=admin; KONG.credential=x; error=true; lc=x; http.status_code=200; http.host=a; peer.hostname=b';
  assert.deepEqual({ ...clientTags([`${forged}; errors=1; http.user=u`]) }, { errors: '1', 'http.user': 'u' });
  for (const piece of [';', 'a;', '=;', 'error=1;'])
    assert.deepEqual({ ...clientTags([`${piece.repeat(5000)}last=1`]) }, {});
});
