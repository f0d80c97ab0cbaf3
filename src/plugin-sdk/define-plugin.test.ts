import assert from 'node:assert/strict';
import { test } from 'node:test';
import { integer } from '../shared/schema/fields.ts';
import { record } from '../shared/schema/record.ts';
import { contextKey } from './contexts.ts';
import { definePlugin, httpProtocols, isPlugin, type PluginDescription, type PluginProtocol } from './define-plugin.ts';
import type { PluginTools } from './tools.ts';

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
  const defaults = (protocols: readonly PluginProtocol[]): readonly string[] =>
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

test('a name and setup are enough', async () => {
  const plugin = definePlugin({ name: 'small', setup: () => ({}) });
  assert.deepEqual([plugin.version, plugin.priority, plugin.protocols], ['0.1.0', 500, httpProtocols]);
  const { config } = await plugin.loadSchema();
  assert.deepEqual([...config.fields.keys()], []);
  assert.equal(config.zod.safeParse({ more: 1 }).success, false, 'no field is known');
});

test('fields of one declaration give the types of the configuration and its validation', async () => {
  const plugin = definePlugin({
    name: 'small',
    config: ({ array, integer, record, string }) => ({
      greeting: string({ required: true, default: 'Hello', description: 'First word.' }),
      status: integer({ between: [400, 499], description: 'Status.' }),
      mode: string({ one_of: ['soft', 'hard'], required: true, default: 'soft', description: 'How.' }),
      names: array(string(), { description: 'Names.' }),
      server: record({ host: string({ required: true, default: 'localhost', description: 'Host.' }) }),
    }),
    checks: [{ mutually_required: ['status', 'names'] }],
    needs: (config) => ({ requestBody: { maxBytes: config.status ?? 1 } }),
    setup(config) {
      const typed: readonly [string, number | null, 'soft' | 'hard', readonly string[] | null, string] = [
        config.greeting,
        config.status,
        config.mode,
        config.names,
        config.server.host,
      ];
      // @ts-expect-error There is no such field.
      assert.equal(config.greting, undefined);
      assert.equal(typed[0], 'Hello');
      return {
        // Neither needs `return undefined`.
        access(context) {
          context.upstream.setHeader('X-Greeting', config.greeting);
        },
        response: async () => {},
      };
    },
  });
  const { config, checks } = await plugin.loadSchema();
  const value = config.zod.parse({});
  assert.deepEqual(value, {
    greeting: 'Hello',
    status: null,
    mode: 'soft',
    names: null,
    server: { host: 'localhost' },
  });
  assert.equal(config.zod.safeParse({ mode: 'other' }).success, false);
  assert.deepEqual(checks, [{ mutually_required: ['status', 'names'] }]);
  assert.deepEqual(plugin.needs(value), { requestBody: { maxBytes: 1 } });
});

test('a schema in a module of its own gives the types as well', async () => {
  const load = async () => ({ config: record({ size: integer({ required: true, default: 1 }) }) });
  const plugin = definePlugin({
    name: 'large',
    schema: load,
    setup: ({ size }) => ({ log: () => void size.toFixed() }),
  });
  assert.deepEqual([...(await plugin.loadSchema()).config.fields.keys()], ['size']);
});

const bad: readonly (readonly [string, object, string])[] = [
  ['an upper-case name', { name: 'Sample' }, 'plugin Sample: name must be lower-case letters'],
  ['an empty name', { name: '' }, 'plugin : name must be lower-case'],
  ['no name', { name: undefined }, 'plugin undefined: name must be lower-case'],
  ['a version of two numbers', { version: '1.0' }, "plugin 'sample': version must be three numbers"],
  ['a fractional priority', { priority: 1.5 }, "plugin 'sample': priority must be a whole number"],
  ['a priority that is a text', { priority: '5' }, "plugin 'sample': priority must be a whole number"],
  ['no protocol', { protocols: [] }, "plugin 'sample': protocols must name at least one protocol"],
  ['an unknown protocol', { protocols: ['ftp'] }, "plugin 'sample': protocols must name at least one protocol of grpc"],
  [
    'a default protocol that it does not speak',
    { defaultProtocols: ['tcp'] },
    "plugin 'sample': defaultProtocols has tcp",
  ],
  ['an unknown scope', { scopes: ['node'] }, "plugin 'sample': scopes must be a list of consumer, route, service"],
  ['fields that no function returns', { schema: undefined, config: {} }, "plugin 'sample': config must be a function"],
  ['fields and a schema', { config: () => ({}) }, "plugin 'sample': schema is there next to config"],
  ['checks without fields', { checks: [] }, "plugin 'sample': checks need config"],
  ['a schema that is the name of a file', { schema: './schema.ts' }, "plugin 'sample': schema must be a function"],
  ['needs that are a list of names', { needs: 'body' }, "plugin 'sample': needs must be an object or a function"],
  ['a module instead of a function', { metrics: {} }, "plugin 'sample': metrics must be a function"],
  ['no setup', { setup: undefined }, "plugin 'sample': setup must be a function"],
];
for (const [what, change, message] of bad) {
  test(`a description with ${what} is refused`, () => {
    assert.throws(
      () => definePlugin({ ...description, ...change }),
      (error: unknown) => error instanceof TypeError && error.message.startsWith(message),
    );
  });
}

test('a value that is no field is named when the schema is read', async () => {
  const fields = { greeting: 'Hello' } as unknown as Record<string, never>;
  await assert.rejects(definePlugin({ name: 'wrong', config: () => fields, setup: () => ({}) }).loadSchema(), {
    name: 'TypeError',
    message: "plugin 'wrong': config.greeting is not a field: make it with string(), integer() and the like",
  });
});

test('a phase with a misspelt name is an error, not a policy that never runs', () => {
  const tools = {} as PluginTools;
  const misspelt = definePlugin({ name: 'wrong', setup: () => ({ log() {}, acess() {} }) });
  assert.throws(() => misspelt.setup({}, tools), {
    name: 'TypeError',
    message: "plugin 'wrong': setup returned 'acess', which is not a phase (did you mean access?)",
  });
  const nothing = definePlugin({ name: 'wrong', setup: () => undefined as unknown as object });
  assert.throws(() => nothing.setup({}, tools), {
    message: "plugin 'wrong': setup must return an object with the phases",
  });
});

test('two context keys of one name are different places', () => {
  assert.notEqual(contextKey('a').symbol, contextKey('a').symbol);
});
