import { refuseReferences } from '../../plugin-runner/refuse-references.ts';
import type { BackgroundInstance } from '../../plugin-sdk/background.ts';
import type { SnapshotDelta } from '../../workers/messages.ts';

/** The plugin instances that are enabled, by plugin. */
export class PluginInstances {
  readonly #byPlugin = new Map<string, Map<string, BackgroundInstance>>();
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

  of(plugin: string): readonly BackgroundInstance[] {
    return [...(this.#byPlugin.get(plugin)?.values() ?? [])];
  }

  #add(plugin: string, id: string, config: unknown): void {
    const instances = this.#byPlugin.get(plugin) ?? new Map<string, BackgroundInstance>();
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

/** The workers refuse one that is not, and tell of it. */
function isUsable(config: unknown): boolean {
  try {
    refuseReferences(config ?? {});
    return true;
  } catch {
    return false;
  }
}
