import { realpathSync } from 'node:fs';
import type { Plugin } from '../../../plugin-sdk/define-plugin.ts';
import { bundledDefinitions } from '../../../plugins/definitions.ts';
import { capabilityUses } from '../capability-use.ts';
import { createPluginCatalog } from '../catalog.ts';
import { recordCode } from '../code/code-hooks.ts';
import type { PluginCode } from '../code/plugin-code.ts';
import { cleanError } from '../code/version-url.ts';
import { configDefaults } from '../config-defaults.ts';
import { checkPin, checkRecorded } from '../integrity/check-pins.ts';
import { loadPlugins } from '../load-plugins.ts';
import { loadProblem } from '../load-problem.ts';
import { ownEntries } from '../own-entries.ts';
import { originOf } from '../plugin-origin.ts';
import { resolveEntry } from '../resolve-entry.ts';
import type { TrialBoot, TrialResult, TriedPlugin } from './trial.ts';

/** Loads the plugins of users and everything that they may load later, except what `setup` does. Rejects with what is wrong. */
export async function tryPlugins(boot: TrialBoot): Promise<TrialResult> {
  const { setting, baseDirectory, pins } = boot;
  const finish = recordCode();
  const plugins = await loadPlugins(ownEntries(setting), baseDirectory, { pins });
  checkBundledNames(setting, plugins);
  const loaded = new Map<string, LoadedParts>();
  for (const plugin of plugins.values()) loaded.set(plugin.name, await loadParts(plugin));
  if (boot.rows.length > 0) await checkRows(plugins, boot);
  const codes = new Map<string, PluginCode>(finish().map((code) => [code.file, code]));
  checkPinned(boot, codes);
  return {
    ok: true,
    plugins: [...plugins.values()].map((plugin): TriedPlugin => {
      const code = codes.get(originOf(plugin) ?? '');
      const parts = loaded.get(plugin.name);
      if (code === undefined || parts === undefined) throw new Error(`plugin '${plugin.name}' was not recorded`);
      const { defaults, ...about } = parts;
      return { ...about, code: { ...code, defaults }, uses: capabilityUses(code) };
    }),
  };
}

function checkBundledNames(setting: readonly string[], plugins: ReadonlyMap<string, Plugin>): void {
  const taken = [...plugins.keys()].find(
    (name) => bundledDefinitions.has(name) && (setting.includes('bundled') || setting.includes(name)),
  );
  if (taken !== undefined) throw new Error(`plugins: two plugins have the name '${taken}'`);
}

/** The code that all threads will run is what was hashed. */
function checkPinned({ baseDirectory, pins }: TrialBoot, codes: ReadonlyMap<string, PluginCode>): void {
  for (const entry of pins.keys()) {
    const file = realpathSync(resolveEntry(entry, baseDirectory));
    const digest = checkPin(entry, file, baseDirectory, pins);
    const code = codes.get(file);
    if (digest !== null && code !== undefined) checkRecorded(entry, code, digest);
  }
}

interface LoadedParts extends Omit<TriedPlugin, 'code' | 'uses'>, Pick<PluginCode, 'defaults'> {}

async function loadParts(plugin: Plugin): Promise<LoadedParts> {
  try {
    const { config } = await plugin.loadSchema();
    const entities = await plugin.loadEntities();
    const adminRoutes = await plugin.loadAdminRoutes();
    await plugin.loadBackground();
    await plugin.loadMetrics();
    return {
      name: plugin.name,
      defaults: configDefaults(config),
      version: plugin.version,
      capabilities: plugin.capabilities,
      entities: JSON.stringify(entities.map(({ name, path, schema }) => [name, path, [...schema.fields.keys()]])),
      adminRoutes: adminRoutes?.toString() ?? '',
    };
  } catch (error) {
    const reason = loadProblem(cleanError(error), originOf(plugin) ?? '');
    throw new Error(`plugins: '${plugin.name}' cannot be loaded: ${reason}`, { cause: error });
  }
}

async function checkRows(
  plugins: ReadonlyMap<string, Plugin>,
  { rows, sharedStore, untrustedFunctions }: TrialBoot,
): Promise<void> {
  const { definePluginsEntity } = await import('../../entities/plugins.ts');
  const { applyPatch } = await import('../../entities/rows.ts');
  const entity = definePluginsEntity(await createPluginCatalog(plugins, { sharedStore, untrustedFunctions }));
  for (const row of rows) {
    const name = String(row['name']);
    if (!plugins.has(name)) continue;
    const result = applyPatch(entity, row, {}, { now: 0 });
    if (result.ok) continue;
    throw new Error(
      `plugin '${name}' no longer accepts the configuration of instance ${row.id}: ${JSON.stringify(result.error.fields)}`,
    );
  }
}
