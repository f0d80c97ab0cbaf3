import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { smallestConfigs as smallest } from '../../../test/support/smallest-configs.ts';
import { bundledPlugins } from '../../plugins/registry.ts';

/*
 * What decK does: it reads the schema of a plugin, fills the defaults into what the file says, and compares that with what
 * the gateway shows. Any difference is an update with every `deck sync`.
 */

type Fields = Readonly<Record<string, unknown>>;
type Schema = Readonly<Record<string, unknown>> & { readonly fields?: readonly Readonly<Record<string, Schema>>[] };

let gateway: TestGateway;
before(async () => {
  gateway = await startTestGateway({ settings: { workers: 1, plugins: ['bundled'], untrustedFunctions: 'on' } });
});
after(() => gateway?.stop());

async function admin(method: string, path: string, body?: unknown): Promise<Fields> {
  const answer = await gateway.admin(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shorthandsOf(schema: Schema): readonly (readonly [string, Schema])[] {
  const listed = (schema['shorthand_fields'] ?? []) as readonly Readonly<Record<string, Schema>>[];
  return listed.flatMap((one) => Object.entries(one));
}

/** The configuration with defaults, as go-kong adds them. */
function filled(schema: Schema, config: Fields): Fields {
  const output: Record<string, unknown> = { ...config };
  const ownDefault = schema['default'];
  for (const [name, field] of (schema.fields ?? []).flatMap((one) => Object.entries(one))) {
    const given = config[name];
    const isRecord = field['type'] === 'record';
    if (isRecord && (isFields(given) || (given == null && field['required'] === true))) {
      const inner = filled(field, isFields(given) ? given : {});
      if (Object.keys(inner).length > 0) output[name] = inner;
      continue;
    }
    const elements = field['elements'] as Schema | undefined;
    if (Array.isArray(given) && elements?.['type'] === 'record') {
      output[name] = given.map((element) => (isFields(element) ? filled(elements, element) : element));
      continue;
    }
    if (Object.hasOwn(config, name)) continue;
    const preset = isFields(ownDefault) && Object.hasOwn(ownDefault, name) ? ownDefault[name] : field['default'];
    output[name] = preset ?? null;
  }
  return output;
}

/** The configuration of the gateway, without the deprecated names, which decK takes from the schema. */
function withoutShorthands(schema: Schema, shown: unknown): unknown {
  if (!isFields(shown)) return shown;
  const output: Record<string, unknown> = { ...shown };
  for (const [name] of shorthandsOf(schema)) delete output[name];
  for (const [name, field] of (schema.fields ?? []).flatMap((one) => Object.entries(one))) {
    if (field['type'] === 'record') output[name] = withoutShorthands(field, output[name]);
  }
  return output;
}

/** Values that the gateway generates: decK cannot compare them, nor with Kong. */
function withoutGenerated(schema: Schema, config: Fields): Fields {
  const output: Record<string, unknown> = { ...config };
  for (const [name, field] of (schema.fields ?? []).flatMap((one) => Object.entries(one))) {
    if (field['auto'] === true) delete output[name];
    const inner = output[name];
    if (field['type'] === 'record' && isFields(inner)) output[name] = withoutGenerated(field, inner);
  }
  return output;
}

function unchanged({ created_at: _created, updated_at: _updated, ...rest }: Fields): Fields {
  return rest;
}

for (const name of bundledPlugins.keys()) {
  test(`${name}: shows the defaults of its schema, and does not change when it is written again`, async () => {
    const schema = (await admin('GET', `/schemas/plugins/${name}`)) as Schema;
    const fields = new Map((schema.fields ?? []).flatMap((one) => Object.entries(one)));
    const configSchema = fields.get('config') ?? {};
    const config = smallest[name] ?? {};
    const path = `/plugins/${randomUUID()}`;
    const plugin = { name, enabled: false };
    await admin('PUT', path, { ...plugin, config });
    const first = await admin('GET', path);
    const expected = filled(configSchema, config);
    const shown = withoutShorthands(configSchema, first['config']) as Fields;
    assert.deepEqual(withoutGenerated(configSchema, shown), withoutGenerated(configSchema, expected));
    for (const again of [config, expected, first['config']]) {
      await admin('PUT', path, { ...plugin, config: again });
      assert.deepEqual(unchanged(await admin('GET', path)), unchanged(first));
    }
    await admin('DELETE', path);
  });
}
