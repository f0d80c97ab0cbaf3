import type { ConfigInput, Plugin, TypedPlugin } from '../../../plugin-sdk/define-plugin.ts';

/** Fields of an entity in Kong's declarative form. */
type Fields = Readonly<Record<string, unknown>>;

/** A plugin instance. */
export interface InstanceConfig extends Fields {
  readonly name: string;
  readonly config?: Fields;
  readonly enabled?: boolean;
}

export interface RouteConfig extends Fields {
  readonly name?: string;
  readonly paths?: readonly string[];
  readonly hosts?: readonly string[];
  readonly methods?: readonly string[];
  readonly strip_path?: boolean;
  readonly plugins?: readonly InstanceConfig[];
}

export interface ServiceConfig extends Fields {
  readonly name?: string;
  readonly url?: string;
  readonly host?: string;
  readonly port?: number;
  readonly retries?: number;
  readonly routes?: readonly RouteConfig[];
  readonly plugins?: readonly InstanceConfig[];
}

export interface ConsumerConfig extends Fields {
  readonly username?: string;
  readonly custom_id?: string;
  readonly plugins?: readonly InstanceConfig[];
}

export interface UpstreamConfig extends Fields {
  readonly name: string;
  readonly targets?: readonly { readonly target: string; readonly weight?: number }[];
}

/** A config in Kong's declarative form; `_format_version` may be left out. Entities that are not named here have their Kong names. */
export interface TestConfig extends Fields {
  readonly services?: readonly ServiceConfig[];
  readonly routes?: readonly RouteConfig[];
  readonly plugins?: readonly InstanceConfig[];
  readonly consumers?: readonly ConsumerConfig[];
  readonly upstreams?: readonly UpstreamConfig[];
}

/**
 * A plugin instance for a config, whose fields your editor knows.
 *
 * @example
 * const config = simpleConfig(pluginInstance(hello, { banned: ['Bob'] }));
 */
export function pluginInstance<C>(
  plugin: TypedPlugin<C>,
  config: ConfigInput<C> = {} as ConfigInput<C>,
  fields: Fields = {},
): InstanceConfig {
  return { ...fields, name: plugin.name, config: config as Fields };
}

/** One service, `http://backend.test`, one route for all paths, and these plugin instances for all requests. */
export function simpleConfig(...plugins: readonly (InstanceConfig | Plugin)[]): TestConfig {
  return {
    services: [{ name: 'test-service', url: 'http://backend.test', routes: [{ name: 'test-route', paths: ['/'] }] }],
    plugins: plugins.map((one) => ('setup' in one ? { name: one.name } : one) as InstanceConfig),
  };
}
