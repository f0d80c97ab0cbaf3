import type { ZoneRequest } from '../../plugin-sdk/index.ts';
import { parseSize } from './rules/policy.ts';
import type { ProxyCacheConfig } from './schema.ts';

/** The shared memory of the strategy `memory`; instances with the same name and size share it. */
export function zones(config: ProxyCacheConfig): readonly ZoneRequest[] {
  if (config.strategy !== 'memory') return [];
  return [{ name: zoneName(config), bytes: parseSize(config.memory.size) ?? 0, kind: 'store' }];
}

export function zoneName({ memory }: ProxyCacheConfig): string {
  return `answers-${memory.dictionary_name}`;
}
