import { type PluginAdminTools, type PluginTools, redisOptions, type ZoneRequest } from '../../plugin-sdk/index.ts';
import type { AnswerStore } from './answer-store.ts';
import { memoryStore } from './memory-store.ts';
import { maxBody } from './policy.ts';
import { redisStore } from './redis-store.ts';
import type { ProxyCacheConfig } from './schema.ts';
import { parseSize } from './sizes.ts';

/** The memory of the strategy `memory`; instances that name the same one, with the same size, share it. */
export function zonesOf(config: ProxyCacheConfig): readonly ZoneRequest[] {
  if (config.strategy !== 'memory') return [];
  return [{ name: zoneName(config), bytes: parseSize(config.memory.size) ?? 0, kind: 'store' }];
}

function zoneName({ memory }: ProxyCacheConfig): string {
  return `answers-${memory.dictionary_name}`;
}

/** The store of an instance, in a worker. */
export function openStore(config: ProxyCacheConfig, tools: PluginTools): AnswerStore {
  const { instanceId } = tools;
  if (config.strategy === 'redis') return openRedisStore(config, instanceId);
  return memoryStore(tools.zone(zoneName(config)), { worker: tools.node.worker, instance: instanceId });
}

/** The same on the control plane; null: no worker has it. */
export function openAdminStore(
  config: ProxyCacheConfig,
  instanceId: string,
  tools: PluginAdminTools,
): AnswerStore | null {
  if (config.strategy === 'redis') return openRedisStore(config, instanceId);
  const memory = tools.zone(instanceId, zoneName(config));
  return memory === null ? null : memoryStore(memory, { worker: 'control-plane', instance: instanceId });
}

function openRedisStore(config: ProxyCacheConfig, instance: string): AnswerStore {
  return redisStore(redisOptions(config.redis), { instance, maxBytes: maxBody(config) });
}
