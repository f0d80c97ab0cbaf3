import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundledDefinitions } from '../../plugins/definitions.ts';
import { undescribedFields } from '../../shared/schema/export/undescribed-fields.ts';
import { type Finding, placeOfProperty } from './finding.ts';
import type { LoadedPlugin } from './load-plugin.ts';
import type { PluginFolder } from './plugin-folder.ts';

/** What is wrong with a loaded plugin: its name, its priority, the fields of its configuration. */
export function checkDefinition({ entry }: PluginFolder, { plugin, schema }: LoadedPlugin): readonly Finding[] {
  const files = [entry, join(dirname(entry), 'schema.ts'), join(dirname(entry), 'schema.js')].filter(existsSync);
  const found: Finding[] = [];
  const report = (property: string, message: string): void => {
    found.push({ level: 'error', place: placeOfProperty(files, property), message });
  };
  if (bundledDefinitions.has(plugin.name))
    report('name', `a plugin with the name '${plugin.name}' comes with the gateway`);
  const clash = pluginsWith(plugin.priority);
  if (clash.length > 0) {
    const free = nearestFree(plugin.priority);
    report(
      'priority',
      `priority ${plugin.priority} is that of ${clash.join(', ')}: which runs first is not defined (${free} is free)`,
    );
  }
  for (const path of undescribedFields(schema.config)) report(lastName(path), `config.${path} has no description`);
  for (const [name, field] of schema.config.fields) {
    if (field.meta.default === undefined) continue;
    const result = field.zod.safeParse(undefined);
    const [issue] = result.error?.issues ?? [];
    if (issue !== undefined) report(name, `the default of config.${name} is not valid: ${issue.message}`);
  }
  return found;
}

/** The bundled plugins that run right before and right after this priority, for people. */
export function neighbours(priority: number): string {
  const all = [...bundledDefinitions].map(([name, definition]) => ({ name, priority: definition.priority }));
  const before = all.filter((one) => one.priority > priority).sort((a, b) => a.priority - b.priority)[0];
  const after = all.filter((one) => one.priority < priority).sort((a, b) => b.priority - a.priority)[0];
  const text = (word: string, one: typeof before): string =>
    one === undefined ? '' : `${word} ${one.name} (${one.priority})`;
  return [text('after', before), text('before', after)].filter(Boolean).join(' and ');
}

function pluginsWith(priority: number): readonly string[] {
  return [...bundledDefinitions].filter(([, definition]) => definition.priority === priority).map(([name]) => name);
}

function nearestFree(priority: number): number {
  for (let distance = 1; ; distance++) {
    for (const candidate of [priority - distance, priority + distance]) {
      if (candidate > 0 && pluginsWith(candidate).length === 0) return candidate;
    }
  }
}

function lastName(path: string): string {
  return path.split('.').at(-1)?.replace('[]', '') ?? path;
}
