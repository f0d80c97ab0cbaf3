import type { ZoneRequest } from '../../plugin-sdk/index.ts';
import { memoryPurgesBytes } from './backends/memory-purges.ts';
import { parseSize } from './rules/policy.ts';
import type { ProxyCacheConfig } from './schema.ts';

/** The shared memory of the strategy `memory`; instances with the same name and size share it. */
export function zones(config: ProxyCacheConfig): readonly ZoneRequest[] {
  if (config.strategy !== 'memory') return [];
  return [
    { name: zoneName(config), bytes: parseSize(config.memory.size) ?? 0, kind: 'store' },
    { name: purgesZoneName(config), bytes: memoryPurgesBytes, kind: 'raw' },
  ];
}

export function zoneName({ memory }: ProxyCacheConfig): string {
  return `answers-${memory.dictionary_name}`;
}

/** The last purges of that memory. */
export function purgesZoneName({ memory }: ProxyCacheConfig): string {
  return `purges-${memory.dictionary_name}`;
}
