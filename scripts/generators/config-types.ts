import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { PluginSchema } from '../../src/plugin-sdk/define-plugin.ts';
import type { EntityDefinition } from '../../src/shared/entities/entity.ts';
import { createEntityRegistry } from '../../src/shared/entities/registry.ts';
import { loadPlugins } from '../../src/shared/plugin-loader/load-plugins.ts';
import { finishedPlugins, root } from '../lib/files.ts';
import type { GeneratedFile, Generator } from '../lib/generated-file.ts';
import { membersOf } from './config-type-text.ts';

const head = '// Generated from the schemas by `npm run generate`. Do not edit.\n';
const folder = 'src/shared/gateway-config';

/** The types of a config in TypeScript: the entities, and the configuration of each bundled plugin. */
export const generateConfigTypes: Generator = async () => [await pluginTypes(), await entityTypes()];

async function pluginTypes(): Promise<GeneratedFile> {
  const names = finishedPlugins();
  const members = await Promise.all(names.map(pluginConfig));
  const list = names.map((name) => `readonly '${name}': ${configName(name)};`);
  const content = `${head}
/** The configuration of each bundled plugin, by the name of the plugin. */
export interface BundledPluginConfigs {\n${list.join('\n')}\n}\n\n${members.join('\n')}`;
  return formatted(`${folder}/bundled-plugin-configs.ts`, content);
}

async function pluginConfig(name: string): Promise<string> {
  const { config }: PluginSchema = await import(join(root, 'src/plugins', name, 'schema.ts'));
  return `export interface ${configName(name)} {\n${membersOf(config)}\n}\n`;
}

function configName(plugin: string): string {
  return `${capitalized(plugin.split('-'))}Config`;
}

async function entityTypes(): Promise<GeneratedFile> {
  const plugins = await loadPlugins(['bundled']);
  const brought = await Promise.all([...plugins.values()].map((plugin) => plugin.loadEntities()));
  const registry = createEntityRegistry({ names: () => [], describe: () => null }, brought.flat());
  const definitions = registry.definitions.filter(({ inConfig, name }) => inConfig && name !== 'plugins');
  const all = registry.definitions.filter(({ inConfig }) => inConfig);
  const lists = definitions.map(({ name }) => `readonly ${name}?: readonly ${entryName(name)}[];`);
  const content = `${head}
import type { NestedPlugin } from './plugin-instances.ts';

/** The entities of a config, by the name of their list. Plugins are not in it. */
export interface EntityLists {\n${lists.join('\n')}\n}\n
${definitions.map((definition) => entity(definition, all)).join('\n')}`;
  return formatted(`${folder}/entity-configs.ts`, content);
}

/** `Service` is what a service has wherever it is; `ServiceEntry` is one at the top of the config, which names what it refers to. */
function entity(definition: EntityDefinition, all: readonly EntityDefinition[]): string {
  const { name, schema, foreign, expires } = definition;
  const references = new Set(Object.keys(foreign));
  const nested = all.filter((child) => mayContain(definition, child)).map(nestedList);
  const hidden = new Set([...references, 'created_at', 'updated_at', ...all.map((child) => child.name)]);
  const ttl = expires && !schema.fields.has('ttl') ? '/** Seconds until it expires. */\nreadonly ttl?: number;\n' : '';
  const own = `export interface ${typeName(name)} {\n${membersOf(schema, hidden)}\n${ttl}${nested.join('\n')}\n}\n`;
  const others = new Set([...schema.fields.keys()].filter((field) => !references.has(field)));
  const top = references.size === 0 ? '' : membersOf({ ...schema, shorthands: new Map() }, others);
  return `${own}\nexport interface ${entryName(name)} extends ${typeName(name)} {\n${top}\n}\n`;
}

function nestedList({ name }: EntityDefinition): string {
  return `readonly ${name}?: readonly ${name === 'plugins' ? 'NestedPlugin' : typeName(name)}[];`;
}

function mayContain(parent: EntityDefinition, child: EntityDefinition): boolean {
  const field = parent.schema.fields.get(child.name);
  if (field !== undefined && field.meta.virtual !== true) return false;
  return Object.values(child.foreign).some(({ entity: name }) => name === parent.name);
}

function typeName(schemaName: string): string {
  return capitalized(schemaName.replace(/s$/, '').split('_'));
}

function capitalized(words: readonly string[]): string {
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
}

function entryName(schemaName: string): string {
  return `${typeName(schemaName)}Entry`;
}

/** As the formatter of the project would write it, so that the gate accepts it. */
function formatted(path: string, content: string): GeneratedFile {
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
  const text = execFileSync(process.execPath, [biome, 'format', `--stdin-file-path=${path}`], {
    cwd: root,
    input: content,
    encoding: 'utf8',
    maxBuffer: 16 * 1024 ** 2,
  });
  return { path, content: text };
}
