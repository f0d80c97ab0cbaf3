import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { parse } from 'yaml';
import { type CommandResult, runCommand } from '../../src/cli/testing/run-command.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { deckReset, deckSync } from './deck-calls.ts';
import { type Fields, isFields, type ModelEntity, readDeckFile, references } from './deck-model.ts';
import { SchemaDefaults } from './schema-defaults.ts';

const folder = join(import.meta.dirname, 'files');
const files = readdirSync(folder).toSorted();

const scratch = mkdtempSync(join(tmpdir(), 'deck-files-'));
const empty = join(scratch, 'nothing.yaml');
writeFileSync(empty, '_format_version: "3.0"\n');

let gateway: TestGateway;
let defaults: SchemaDefaults;
before(async () => {
  gateway = await startTestGateway({ settings: { plugins: ['bundled'] } });
  defaults = new SchemaDefaults(gateway);
});
beforeEach(() => apply(empty));
after(async () => {
  await gateway?.stop();
  rmSync(scratch, { recursive: true, force: true });
});

test('there are twenty files, with every bundled plugin that is on by default', async () => {
  assert.equal(files.length, 20);
  const used = new Set(
    files.flatMap((file) => readDeckFile(textOf(join(folder, file)))).map(({ fields }) => fields['name']),
  );
  const { available_on_server: available } = (await gateway.admin('GET', '/')).body['plugins'] as Record<
    string,
    Fields
  >;
  const unused = Object.keys(available ?? {}).filter((name) => !used.has(name));
  // Off by default; an import from Kong carries no function over.
  assert.deepEqual(unused.toSorted(), ['post-function', 'pre-function']);
});

test('an export by tags does not repeat them at each entity; in which order tags are does not matter', async () => {
  await apply(join(folder, 'select-tags.yaml'));
  await apply(join(folder, 'nested.yaml'), '--merge');
  const query = 'style=deck&select_tag=managed&select_tag=team-search';
  const text = await (await fetch(`${gateway.adminUrl}/config/export?${query}`)).text();
  const path = join(scratch, 'selected.yaml');
  writeFileSync(path, text);
  const document = parse(text);
  assert.deepEqual(document['_info'], { defaults: {}, select_tags: ['managed', 'team-search'] });
  assert.deepEqual(document['services'][0]['tags'], ['beta']);
  assert.equal(document['upstreams'][0]['targets'][0]['tags'], undefined);
  assert.equal(document['services'].length, 1);
  assert.deepEqual({ ...(await diff(path)), unchanged: 0 }, unchanged(0));
});

for (const file of files) {
  describe(file, () => {
    test('applied and exported, it is the same config', async () => {
      const path = join(folder, file);
      const entities = readDeckFile(textOf(path));
      assert.deepEqual(await apply(path), { ...none, created: entities.length, unchanged: 0 });
      const exported = await exportDeck('exported.yaml');
      assert.deepEqual(
        await comparable(readDeckFile(textOf(exported)), entities),
        await comparable(entities, entities),
      );
      for (const document of [path, exported]) assert.deepEqual(await diff(document), unchanged(entities.length));
      await apply(empty);
      await apply(exported);
      const again = await exportDeck('again.yaml');
      assert.equal(withoutIds(textOf(again)), withoutIds(textOf(exported)), 'byte for byte');
    });

    test('imported as a dump of Kong, it is the same config', async () => {
      const path = join(folder, file);
      const entities = readDeckFile(textOf(path));
      const { code, output, errors } = await command('import', 'kong', path, '--admin', gateway.adminUrl);
      assert.equal(code, 0, errors);
      assert.doesNotMatch(output, /^Not carried over/m);
      assert.deepEqual(await diff(path), unchanged(entities.length));
    });

    test('written with the calls of decK, it is the same config, and nothing differs', async () => {
      const entities = readDeckFile(textOf(join(folder, file))).map(withMarkedHash);
      const filled = await Promise.all(entities.map(async (one) => ({ ...one, filled: await defaults.fill(one) })));
      for (const { collection, filled: fields } of filled) {
        const { status, body } = await gateway.admin('POST', `/schemas/${collection}/validate`, withIds(fields));
        assert.equal(status, 200, `${collection}: ${JSON.stringify(body)}`);
      }
      const written = await deckSync(gateway, filled);
      for (const { path, fields } of written) {
        const shown = (await gateway.admin('GET', path)).body;
        assert.deepEqual(withoutNulls(pick(shown, fields)), withoutNulls(fields), path);
      }
      const exported = await exportDeck('exported.yaml');
      assert.deepEqual(
        await comparable(readDeckFile(textOf(exported)), entities),
        await comparable(entities, entities),
      );
      assert.deepEqual(await diff(exported), unchanged(entities.length));
      await deckReset(gateway, written);
      assert.equal(textOf(await exportDeck('empty.yaml')), '_format_version: "3.0"\n');
    });
  });
}

const none = { created: 0, updated: 0, deleted: 0 };

function unchanged(count: number) {
  return { ...none, unchanged: count };
}

function textOf(path: string): string {
  return readFileSync(path, 'utf8');
}

function command(...argv: readonly string[]): Promise<CommandResult> {
  return runCommand(scratch, ...argv);
}

async function apply(path: string, ...more: readonly string[]) {
  const options = ['--admin', gateway.adminUrl, '--json', ...more];
  const { code, output, errors } = await command('config', 'apply', path, ...options);
  assert.equal(code, 0, errors);
  return countsIn(output);
}

async function diff(path: string) {
  const { code, output, errors } = await command('config', 'diff', path, '--admin', gateway.adminUrl, '--json');
  assert.equal(code, 0, errors + output);
  return countsIn(output);
}

function countsIn(json: string) {
  const { created, updated, deleted, unchanged: same } = JSON.parse(json) as Record<string, number>;
  return { created, updated, deleted, unchanged: same };
}

/** The path of the file. */
async function exportDeck(name: string): Promise<string> {
  const options = ['--style', 'deck', '--admin', gateway.adminUrl];
  const { code, errors } = await command('config', 'export', name, ...options);
  assert.equal(code, 0, errors);
  return join(scratch, name);
}

/** Ids that a file does not have are random, and `ttl` counts down. */
function withoutIds(text: string): string {
  return text.replace(/^(\s*(?:- )?(?:id|ttl): ).*$/gm, '$1');
}

/**
 * Complete entities by what identifies them. What the gateway made, because the entity in `reference` does not have it, is left out, and
 * a password is not compared: it is a hash in one of them.
 */
async function comparable(
  entities: readonly ModelEntity[],
  reference: readonly ModelEntity[],
): Promise<Readonly<Record<string, unknown>>> {
  const given = new Map(reference.map((entity) => [identityOf(entity), entity]));
  const found: Record<string, unknown> = {};
  for (const entity of entities) {
    const identity = identityOf(entity);
    const fields = await defaults.fill(entity);
    const made = await defaults.generated(entity);
    found[identity] = withoutNulls(withoutMade(fields, made, given.get(identity)?.fields ?? {}));
  }
  return found;
}

const identifying = [
  'name',
  'username',
  'key',
  'client_id',
  'target',
  'group',
  'subject_name',
  'service',
  'route',
  'consumer',
];

function identityOf({ collection, fields, name }: ModelEntity): string {
  const parts = identifying.flatMap((field) =>
    typeof fields[field] === 'string' ? [`${field}=${fields[field]}`] : [],
  );
  return [collection, ...(collection === 'certificates' || parts.length === 0 ? [name] : parts)].join(' ');
}

/** Without the values in `made` that are not in `given`, those of a plugin's configuration too. */
function withoutMade(fields: Fields, made: ReadonlySet<string>, given: Fields): Fields {
  const { config } = fields;
  const entries = Object.entries(fields).filter(
    ([name]) => name !== 'password' && name !== 'config' && !(made.has(name) && given[name] === undefined),
  );
  const own = isFields(given['config']) ? given['config'] : {};
  return { ...Object.fromEntries(entries), ...(isFields(config) && { config: withoutMade(config, made, own) }) };
}

/** Null, an empty list and an empty map mean unset. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isFields(value)) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, withoutNulls(inner)] as const);
  return Object.fromEntries(entries.filter(([, inner]) => inner != null).sort());
}

/** `deck gateway validate` sends references as ids, of entities that need not exist. */
function withIds(fields: Fields): Fields {
  const id = '00000000-0000-4000-8000-000000000000';
  const entries = Object.entries(fields).map(([name, value]) => [
    name,
    name in references && value != null ? { id } : value,
  ]);
  return Object.fromEntries(entries);
}

/** The fields of `shown` that were sent with a value; passwords are shown as hashes. */
function pick(shown: Fields, sent: Fields): Fields {
  return Object.fromEntries(
    Object.entries(sent).map(([name, value]) => {
      if (name === 'password') return [name, value];
      if (name === 'tags' && Array.isArray(shown[name])) return [name, shown[name].toSorted()];
      if (isFields(value) && isFields(shown[name])) return [name, pick(shown[name], value)];
      return [name, value === null ? null : shown[name]];
    }),
  );
}

/** As docs/from-kong.md says: Kong's hash needs a mark for the Admin API. */
function withMarkedHash(entity: ModelEntity): ModelEntity {
  const { password } = entity.fields;
  if (typeof password !== 'string' || !/^[0-9a-f]{40}$/.test(password)) return entity;
  return { ...entity, fields: { ...entity.fields, password: `$kong-sha1$${password}` } };
}
