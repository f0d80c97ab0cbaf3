import type { PluginPhases, PluginTools } from '../../plugin-sdk/index.ts';
import { cacheOver } from './cache.ts';
import { cachePolicy } from './policy.ts';
import type { ProxyCacheConfig } from './schema.ts';
import { openStore } from './stores.ts';

/** The cache of an instance, over the store that its configuration names. */
export function cacheAnswers(config: ProxyCacheConfig, tools: PluginTools): PluginPhases {
  return cacheOver(cachePolicy(config, tools.instanceId), openStore(config, tools), tools);
}
