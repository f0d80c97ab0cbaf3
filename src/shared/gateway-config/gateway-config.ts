import type { EntityLists } from './entity-configs.ts';
import type { PluginEntry } from './plugin-instances.ts';

/**
 * A whole config in TypeScript: what `kong.yaml` contains, with Kong's names, checked by the compiler. Entities may be nested: routes in
 * their service, plugins in what they are attached to.
 */
export interface GatewayConfig extends EntityLists {
  /** Default: `3.0`. */
  readonly _format_version?: '1.1' | '2.1' | '3.0';
  /** False: secrets are hashes already. Default: true. */
  readonly _transform?: boolean;
  /** Ignored. */
  readonly _comment?: string;
  readonly plugins?: readonly PluginEntry[];
}

/**
 * What a config file may export: a config, a promise of one, or a function that returns either. The compiler finds unknown fields in what a
 * function returns only if the function names its type: `(): GatewayConfig => ({ ... })`.
 */
export type GatewayConfigSource =
  | GatewayConfig
  | Promise<GatewayConfig>
  | (() => GatewayConfig | Promise<GatewayConfig>);

/**
 * Returns what it receives; the compiler checks it. It is the default export of `sluicegate.config.ts`.
 *
 * @example
 * import { defineConfig } from 'sluicegate';
 *
 * export default defineConfig({
 *   services: [
 *     {
 *       name: 'orders',
 *       url: 'http://127.0.0.1:9001',
 *       routes: [{ name: 'orders', paths: ['/orders'] }],
 *       plugins: [{ name: 'rate-limiting', config: { minute: 60, policy: 'local' } }],
 *     },
 *   ],
 * });
 */
export function defineConfig(config: GatewayConfigSource): GatewayConfigSource {
  return config;
}
