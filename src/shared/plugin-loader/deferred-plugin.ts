import type { Plugin, PluginSchema } from '../../plugin-sdk/define-plugin.ts';
import type { BundledDefinition } from './bundled-definition.ts';

/** A plugin whose modules are loaded when they are first needed. */
export interface DeferredPlugin extends Plugin {
  /** The schema of its configuration, loaded synchronously. */
  schemaNow(): PluginSchema;
}

/**
 * A bundled plugin for the control plane, which validates the configuration of few plugins and runs none: all of them take 200 ms
 * and 25 MB. Calls that return a promise load only the module that they are about.
 */
export function deferPlugin(name: string, definition: BundledDefinition): DeferredPlugin {
  const { version, priority, hasZones, module, schema, entities, adminRoutes, background, metrics } = definition;
  const plugin = (): Plugin => module().default;
  return Object.freeze({
    ...{ name, version, priority, hasZones },
    protocols: Object.freeze(definition.protocols),
    defaultProtocols: Object.freeze(definition.defaultProtocols),
    scopes: Object.freeze(definition.scopes),
    capabilities: null,
    schemaNow: schema,
    loadSchema: async () => schema(),
    needs: (config: unknown) => plugin().needs(config),
    timeBudget: (config: unknown) => plugin().timeBudget(config),
    zones: (config: unknown, instanceId: string) => (hasZones ? plugin().zones(config, instanceId) : []),
    loadEntities: async () => (await entities?.())?.entities ?? [],
    loadAdminRoutes: async () => (await adminRoutes?.())?.adminRoutes ?? null,
    hasBackground: background !== undefined,
    loadBackground: async () => (await background?.())?.background ?? null,
    loadMetrics: async () => (await metrics?.())?.metrics ?? null,
    setup: (config: unknown, tools: Parameters<Plugin['setup']>[1]) => plugin().setup(config, tools),
  } satisfies DeferredPlugin);
}

export function isDeferred(plugin: Plugin): plugin is DeferredPlugin {
  return 'schemaNow' in plugin;
}
