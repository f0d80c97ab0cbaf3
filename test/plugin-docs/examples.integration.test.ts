import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { BackendAnswer, PluginModule } from '../../src/plugin-sdk/index.ts';
import { testPlugin } from '../../src/plugin-testing/index.ts';
import { codeBlocks, type ReferenceTable, referenceTables } from './reference-page.fixture.ts';

const root = join(import.meta.dirname, '../..');

/** What the examples of the reference use and do not declare. */
const given = `
import type { SecureContext } from 'node:tls';
import { mediaType } from 'sluicegate/plugin-kit/http';
import { parseJson } from 'sluicegate/plugin-kit/json';
import { fractionOf } from 'sluicegate/plugin-kit/runtime';
import { sharedStore } from 'sluicegate/plugin-kit/shared-memory';
import type * as sdk from 'sluicegate/plugin-sdk';
import { consumerView, refuse, reply, replyJson } from 'sluicegate/plugin-sdk';
import { record } from 'sluicegate/plugin-sdk/schema';

declare const context: sdk.AccessContext;
declare const tools: sdk.PluginTools;
declare const store: sdk.SharedStore;
declare const circuits: sdk.Circuits;
declare const circuitOptions: sdk.CircuitOptions;
declare const row: sdk.EntityRow;
declare const names: sdk.HeaderNames;
declare const nameKey: sdk.ContextKey<string>;
declare const id: string;
declare const blocked: ReadonlySet<string>;
declare const certificates: ReadonlyMap<string, SecureContext>;
declare const queue: { add(text: string): void; drain(): Promise<void> };
declare const timer: NodeJS.Timeout;
declare const worker: sdk.PluginBackground;
declare function observe(value: number): void;
const used = [mediaType, parseJson, fractionOf, sharedStore, consumerView, refuse, reply, replyJson, context, tools, store,
  circuits, circuitOptions, row, names, nameKey, id, blocked, certificates, queue, timer, worker, record, observe];
export { used };
`;

/** The gateway resolves `sluicegate/...` of a plugin to its own copy; here the copy is this source tree. */
function resolved(code: string): string {
  return code
    .replaceAll(/'sluicegate\/(plugin-kit\/[\w/-]+|plugin-sdk)'/g, "'../../src/$1/index.ts'")
    .replaceAll("'sluicegate/plugin-sdk/schema'", "'../../src/plugin-sdk/schema.ts'");
}

/** The examples of a definition have different configurations. */
const typeOf = (name: string): string => (name === 'PluginDescription' ? 'sdk.PluginDescription<any>' : `sdk.${name}`);

function functionsOf({ name, variable, rows }: ReferenceTable): string {
  return rows
    .map(({ example, member }) => {
      const label = `// ${name}.${member}`;
      if (variable === null) return `${label}\nvoid ({ ${example} } satisfies Partial<${typeOf(name)}>);`;
      const statement = example.endsWith(';') ? example : `void (${example});`;
      return `${label}\nvoid (async (${variable}: sdk.${name}) => { ${variable}; ${statement} });`;
    })
    .join('\n');
}

const configs = new Map<string, Readonly<Record<string, unknown>>>([
  ['plans', { service: 'plans' }],
  ['signed-orders', { secrets: ['a secret of the sender'] }],
]);

/** What every backend answers that a recipe calls. */
const calls = () => ({ status: 200, body: Buffer.from('{"name":"small"}') }) as unknown as BackendAnswer;

let folder = '';
let recipes: readonly string[] = [];

before(() => {
  mkdirSync(join(root, '.runtime'), { recursive: true });
  folder = mkdtempSync(join(root, '.runtime/plugin-docs-'));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  write('package.json', '{"type":"module"}');
  write('tsconfig.json', '{"extends":"../../tsconfig.json","include":["*.ts"]}');
  write('reference.ts', resolved(`${given}\n${referenceTables().map(functionsOf).join('\n')}\n`));
  recipes = codeBlocks('plugin-recipes.md').map((code, at) => {
    write(`recipe-${at + 1}.ts`, resolved(code));
    return `recipe-${at + 1}.ts`;
  });
});
after(() => rmSync(folder, { recursive: true }));

test('every example of the plugin pages compiles', () => {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8', timeout: 120_000 });
  assert.equal(status, 0, stdout);
});

test('every recipe is a plugin that answers', async () => {
  assert.ok(recipes.length >= 10);
  for (const recipe of recipes) {
    const { default: plugin } = (await import(join(folder, recipe))) as PluginModule;
    const rig = testPlugin(plugin, { config: configs.get(plugin.name) ?? {}, calls });
    const json = { 'Content-Type': 'application/json' };
    const backend = { headers: json, body: '{"a":1}' };
    const request = { method: 'POST', headers: json, body: '{"items":[]}', backend };
    const { response } = await rig.request(request);
    assert.ok(response.status < 500, `${plugin.name}: ${response.status} ${JSON.stringify(rig.logLines)}`);
    await rig.dispose();
  }
});
