import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PluginModule } from '../../src/plugin-sdk/define-plugin.ts';
import { finishedPlugins, root } from '../lib/files.ts';
import type { GeneratedFile, Generator } from '../lib/generated-file.ts';

const registryHead = `// Generated from the folder names by \`npm run generate\`. Do not edit.
import type { PluginLoader } from '../plugin-sdk/define-plugin.ts';

export const bundledPlugins: ReadonlyMap<string, PluginLoader> = new Map<string, PluginLoader>([
`;

const definitionsHead = `// Generated from the folders by \`npm run generate\`. Do not edit.
import { loadNow } from '../plugin-kit/runtime/load-now.ts';
import type { BundledDefinition } from '../shared/plugin-loader/bundled-definition.ts';

/** What the control plane knows of each bundled plugin before it loads it. */
export const bundledDefinitions: ReadonlyMap<string, BundledDefinition> = new Map<string, BundledDefinition>([
`;

/** The lists of bundled plugins, so that adding one touches its own folder only. */
export const generatePluginRegistry: Generator = async () => {
  const lines = finishedPlugins().map((name) => `  ['${name}', () => import('./${name}/index.ts')],\n`);
  const registry = { path: 'src/plugins/registry.ts', content: `${registryHead}${lines.join('')}]);\n` };
  return [registry, await definitions()];
};

async function definitions(): Promise<GeneratedFile> {
  const entries = await Promise.all(finishedPlugins().map(definitionOf));
  return { path: 'src/plugins/definitions.ts', content: `${definitionsHead}${entries.join('')}]);\n` };
}

/** Optional modules, by the property of the definition that loads them. */
const optional = [
  ['entities', 'entities.ts'],
  ['adminRoutes', 'admin.ts'],
  ['background', 'background.ts'],
  ['metrics', 'metrics.ts'],
] as const;

async function definitionOf(name: string): Promise<string> {
  const folder = join(root, 'src/plugins', name);
  const index = pathToFileURL(join(folder, 'index.ts')).href;
  const { default: plugin } = (await import(index)) as PluginModule;
  const list = (values: readonly string[]): string => `[${values.map((value) => `'${value}'`).join(', ')}]`;
  const now = (file: string): string => `loadNow(import.meta.url, './${name}/${file}')`;
  const lines = [
    `version: '${plugin.version}',`,
    `priority: ${plugin.priority},`,
    `protocols: ${list(plugin.protocols)},`,
    `defaultProtocols: ${list(plugin.defaultProtocols)},`,
    `scopes: ${list(plugin.scopes)},`,
    `hasZones: ${plugin.hasZones},`,
    `module: () => ${now('index.ts')},`,
    `schema: () => ${now('schema.ts')},`,
    ...optional
      .filter(([, file]) => existsSync(join(folder, file)))
      .map(([property, file]) => `${property}: () => import('./${name}/${file}'),`),
  ];
  return `  [\n    '${name}',\n    {\n${lines.map((line) => `      ${line}\n`).join('')}    },\n  ],\n`;
}
