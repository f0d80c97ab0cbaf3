import assert from 'node:assert/strict';
import { test } from 'node:test';
import { array, integer, record, string } from '../../plugin-sdk/schema.ts';
import { configDefaults, currentConfig, rememberDefaults } from './config-defaults.ts';

const schema = record({
  text: string({}),
  mode: string({ required: true, default: 'fast' }),
  token: string({ required: true }),
  list: array(integer({}), { default: [1] }),
  server: record({ host: string({ required: true }), port: integer({ default: 80 }) }),
});

test('adds what is missing, at every level, and nothing else', () => {
  const plugin = {};
  rememberDefaults(plugin, structuredClone(configDefaults(schema)));
  const stored = { mode: 'slow', text: null, server: { host: 'a' }, gone: 1 };
  assert.deepEqual(currentConfig(plugin, stored), {
    mode: 'slow',
    text: null,
    gone: 1,
    list: [1],
    server: { host: 'a', port: 80 },
  });
  assert.deepEqual(stored.server, { host: 'a' });
});

test('a configuration without gaps stays the same object', () => {
  const plugin = {};
  const stored = { text: 'a', mode: 'b', token: 'c', list: null, server: { host: 'd', port: 1 } };
  rememberDefaults(plugin, configDefaults(schema));
  assert.equal(currentConfig(plugin, stored), stored);
  assert.equal(currentConfig({}, { a: 1 })['a'], 1);
});
