import type { ConfiguredInstance } from '../../plugin-sdk/tools.ts';
import type { SnapshotDelta } from '../../shared/messages/messages.ts';
import { rejectVaultReferences } from '../../shared/plugin-loader/reject-vault-references.ts';

/** The plugin instances that are enabled, by plugin. */
export class PluginInstances {
  readonly #byPlugin = new Map<string, Map<string, ConfiguredInstance>>();
  readonly #pluginOf = new Map<string, string>();

  configChanged({ full, upserts, removes }: SnapshotDelta): void {
    if (full) {
      this.#byPlugin.clear();
      this.#pluginOf.clear();
    }
    for (const id of removes.plugins ?? []) this.#remove(id);
    for (const row of upserts.plugins ?? []) {
      this.#remove(row.id);
      if (row['enabled'] !== false && isUsable(row['config'])) this.#add(String(row['name']), row.id, row['config']);
    }
  }

  /** Names of plugins that have one. */
  plugins(): readonly string[] {
    return [...this.#byPlugin.keys()];
  }

  has(plugin: string): boolean {
    return this.#byPlugin.has(plugin);
  }

  of(plugin: string): readonly ConfiguredInstance[] {
    return [...(this.#byPlugin.get(plugin)?.values() ?? [])];
  }

  #add(plugin: string, id: string, config: unknown): void {
    const instances = this.#byPlugin.get(plugin) ?? new Map<string, ConfiguredInstance>();
    this.#byPlugin.set(plugin, instances);
    instances.set(id, { id, config: config ?? {} });
    this.#pluginOf.set(id, plugin);
  }

  #remove(id: string): void {
    const plugin = this.#pluginOf.get(id);
    if (plugin === undefined) return;
    this.#pluginOf.delete(id);
    const instances = this.#byPlugin.get(plugin);
    instances?.delete(id);
    if (instances?.size === 0) this.#byPlugin.delete(plugin);
  }
}

/** The workers refuse an invalid one and report it. */
function isUsable(config: unknown): boolean {
  try {
    rejectVaultReferences(config ?? {});
    return true;
  } catch {
    return false;
  }
}
