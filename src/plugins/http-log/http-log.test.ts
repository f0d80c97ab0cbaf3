import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { testPlugin } from '../../plugin-testing/index.ts';
import httpLog from './index.ts';

const http_endpoint = 'http://127.0.0.1:9/';

test('accepts the configuration of Kong, with its defaults', async () => {
  const plugin = testPlugin(httpLog, { config: { http_endpoint } });
  const checked = await plugin.check({ http_endpoint });
  assert.ok(checked.ok);
  assert.deepEqual(checked.config, {
    http_endpoint,
    method: 'POST',
    content_type: 'application/json',
    timeout: 10_000,
    keepalive: 60_000,
    retry_count: null,
    queue_size: null,
    flush_timeout: null,
    headers: null,
    queue: {
      max_batch_size: 1,
      max_coalescing_delay: 1,
      max_entries: 10_000,
      max_bytes: null,
      max_retry_time: 60,
      initial_retry_delay: 0.01,
      max_retry_delay: 60,
      concurrency_limit: 1,
    },
    custom_fields: null,
    custom_fields_by_lua: null,
  });
  for (const good of [
    { http_endpoint: 'https://user:password@logs.test:8443/path?x=1', method: 'PATCH' },
    { http_endpoint: 'http://[::1]:80' },
    { http_endpoint, content_type: 'application/json; charset=utf-8', timeout: 0.5e3, keepalive: 0 },
    { http_endpoint, retry_count: 10, queue_size: 10, flush_timeout: 2.5 },
    { http_endpoint, headers: { 'X-Key': 'a', Authorization: 'Bearer x' } },
    { http_endpoint, custom_fields_by_lua: { a: "return kong.request.get_header('x')", 'b.c': 'return nil' } },
  ]) {
    assert.equal((await plugin.check(good)).ok, true, JSON.stringify(good));
  }
});

test('refuses an invalid configuration and names the field', async () => {
  const plugin = testPlugin(httpLog, { config: { http_endpoint } });
  const cases: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
    ['http_endpoint', {}],
    ['http_endpoint', { http_endpoint: 'logs.test' }],
    ['http_endpoint', { http_endpoint: 'ftp://logs.test/' }],
    ['http_endpoint', { http_endpoint: 'http://logs.test:99999/' }],
    ['http_endpoint', { http_endpoint: 'http://logs.test/a b' }],
    ['http_endpoint', { http_endpoint: 'http://logs.test/\r\nX: y' }],
    ['method', { http_endpoint, method: 'GET' }],
    ['content_type', { http_endpoint, content_type: 'text/plain' }],
    ['timeout', { http_endpoint, timeout: 0 }],
    ['headers', { http_endpoint, headers: { hOst: 'x' } }],
    ['headers', { http_endpoint, headers: { 'Content-Length': '1' } }],
    ['headers', { http_endpoint, headers: { 'Content-Type': 'a/b' } }],
    ['headers', { http_endpoint, headers: { 'Transfer-Encoding': 'chunked' } }],
    ['headers', { http_endpoint, headers: { 'a b': 'x' } }],
    ['headers', { http_endpoint, headers: { 'X-A': 'x\r\nY: z' } }],
    ['max_batch_size', { http_endpoint, queue: { max_batch_size: 0 } }],
    ['max_entries', { http_endpoint, queue: { max_entries: 2_000_000 } }],
    ['concurrency_limit', { http_endpoint, queue: { concurrency_limit: 2 } }],
    ['max_bytes', { http_endpoint, queue: { max_bytes: 0 } }],
    ['custom_fields', { http_endpoint, custom_fields: { a: '$(nothing.x)' } }],
    ['custom_fields_by_lua', { http_endpoint, custom_fields_by_lua: { a: 'return os.time()' } }],
  ];
  for (const [field, config] of cases) {
    const checked = await plugin.check(config);
    assert.equal(checked.ok, false, JSON.stringify(config));
    assert.ok(!checked.ok && checked.message.includes(field), `${field}: ${JSON.stringify(checked)}`);
  }
});

test('counts a record that cannot be JSON, and does not affect the request', async () => {
  const plugin = testPlugin(httpLog, {
    config: { http_endpoint },
    otherPlugins: [{ plugin: unserialisable }],
  });
  assert.equal((await plugin.request()).response.status, 200);
  assert.equal(plugin.counts.get('http-log.records_unserialisable'), 1);
});

const unserialisable = definePlugin({
  name: 'big-numbers',
  version: '1.0.0',
  priority: 500,
  protocols: httpProtocols,
  schema: async () => ({ config: record({}) }),
  setup: () => ({
    access(context) {
      context.log('big', 1n);
      return undefined;
    },
  }),
});
