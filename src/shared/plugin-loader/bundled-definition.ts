import type {
  PluginDescription,
  PluginModule,
  PluginProtocol,
  PluginSchema,
  PluginScope,
} from '../../plugin-sdk/define-plugin.ts';

/** What is known of a bundled plugin before it is loaded. `module` and `schema` load theirs synchronously. */
export interface BundledDefinition
  extends Pick<PluginDescription<unknown>, 'entities' | 'adminRoutes' | 'background' | 'metrics'> {
  readonly version: string;
  readonly priority: number;
  readonly protocols: readonly PluginProtocol[];
  readonly defaultProtocols: readonly PluginProtocol[];
  readonly scopes: readonly PluginScope[];
  readonly hasZones: boolean;
  readonly module: () => PluginModule;
  readonly schema: () => PluginSchema;
}
