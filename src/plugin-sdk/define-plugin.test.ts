import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contextKey } from './contexts.ts';
import { definePlugin, httpProtocols, isPlugin, type PluginDescription } from './define-plugin.ts';

const description: PluginDescription<unknown> = {
  name: 'sample',
  version: '1.0.0',
  priority: 5,
  protocols: httpProtocols,
  schema: () => Promise.reject(new Error('not asked for')),
  setup: () => ({}),
};

test('a plugin is frozen, knows its defaults and does not load its schema by itself', () => {
  const plugin = definePlugin(description);
  assert.equal(Object.isFrozen(plugin), true);
  assert.equal(isPlugin(plugin), true);
  assert.deepEqual(plugin.defaultProtocols, ['grpc', 'grpcs', 'http', 'https']);
  assert.deepEqual(plugin.scopes, ['consumer', 'route', 'service']);
  assert.deepEqual(plugin.needs({}), {});
});

test('without defaults of its own, a plugin runs for those of the usual protocols that it speaks', () => {
  const defaults = (protocols: PluginDescription<unknown>['protocols']): readonly string[] =>
    definePlugin({ ...description, protocols }).defaultProtocols;
  assert.deepEqual(defaults(['http', 'https']), ['http', 'https']);
  assert.deepEqual(defaults(['tcp', 'https', 'grpc']), ['grpc', 'https']);
  assert.deepEqual(defaults(['tcp', 'udp']), ['tcp', 'udp'], 'all of its own when it speaks none of the usual ones');
});

test('needs may depend on the configuration', () => {
  const plugin = definePlugin<{ size: number }>({
    ...(description as PluginDescription<{ size: number }>),
    needs: (config) => ({ requestBody: { maxBytes: config.size } }),
  });
  assert.deepEqual(plugin.needs({ size: 7 }), { requestBody: { maxBytes: 7 } });
});

const bad: readonly (readonly [string, Partial<PluginDescription<unknown>>, RegExp])[] = [
  ['an upper-case name', { name: 'Sample' }, /lower-case/],
  ['an empty name', { name: '' }, /lower-case/],
  ['a version of two numbers', { version: '1.0' }, /three numbers/],
  ['a fractional priority', { priority: 1.5 }, /whole number/],
  ['no protocol', { protocols: [] }, /at least one protocol/],
  ['a default protocol that it does not speak', { defaultProtocols: ['tcp'] }, /default protocol tcp/],
];
for (const [what, change, message] of bad) {
  test(`a description with ${what} is refused`, () => {
    assert.throws(() => definePlugin({ ...description, ...change }), message);
  });
}

test('two context keys of one name are different places', () => {
  assert.notEqual(contextKey('a').symbol, contextKey('a').symbol);
});
