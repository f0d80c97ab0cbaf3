import type { BundledPluginConfigs } from './bundled-plugin-configs.ts';

/**
 * The configuration of each plugin, by the name of the plugin. Add your own by declaration merging.
 *
 * @example
 * declare module 'sluicegate' {
 *   interface PluginConfigs {
 *     'my-policy': { readonly greeting?: string };
 *   }
 * }
 */
export interface PluginConfigs extends BundledPluginConfigs {}

export type PluginProtocolName =
  | 'http'
  | 'https'
  | 'grpc'
  | 'grpcs'
  | 'tcp'
  | 'tls'
  | 'udp'
  | 'tls_passthrough'
  | 'ws'
  | 'wss';

/** What every plugin instance may have, whatever its plugin is. */
export interface PluginInstanceFields {
  /** A UUID. Default: one that follows from the place of the instance in the config. */
  readonly id?: string;
  /** Unique name of this instance. */
  readonly instance_name?: string | null;
  /** A disabled instance never runs. Default: true. */
  readonly enabled?: boolean;
  /** The protocols of requests for which it runs. Default: those of the plugin. */
  readonly protocols?: readonly PluginProtocolName[];
  readonly tags?: readonly string[] | null;
}

/** What an instance at the top of the config is attached to, by id or name; without any of them it runs for every request. */
export interface PluginScopeFields {
  readonly service?: string | null;
  readonly route?: string | null;
  readonly consumer?: string | null;
}

/** `config` may be absent where every field of it may. */
type WithConfig<Config> = object extends Config ? { readonly config?: Config | null } : { readonly config: Config };

/** An instance of the plugin with this name. */
export type PluginInstance<Name extends keyof PluginConfigs> = PluginInstanceFields & {
  readonly name: Name;
} & WithConfig<PluginConfigs[Name]>;

/** A plugin instance within a service, route or consumer: it is attached to that. */
export type NestedPlugin = { [Name in keyof PluginConfigs]: PluginInstance<Name> }[keyof PluginConfigs];

/** A plugin instance at the top of the config. */
export type PluginEntry = NestedPlugin & PluginScopeFields;

/**
 * The type of what you write as the configuration of a plugin, from the type of what the plugin receives (`Infer` of its schema): every
 * field may be absent or null. Required fields without a default are not known to it; `config validate` reports them.
 */
export type ConfigInput<Config> = Config extends readonly (infer Element)[]
  ? readonly ConfigInput<Element>[]
  : Config extends object
    ? { readonly [Field in keyof Config]?: ConfigInput<Config[Field]> | null }
    : Config;
