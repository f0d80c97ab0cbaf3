import type { ZoneRequest } from '../../plugin-sdk/index.ts';
import type { CircuitBreakerConfig } from './schema.ts';

export const circuitsZone = 'circuits';
export const answersZone = 'answers';

/** Room for several thousand circuits; all instances of the node share it. */
const circuitsBytes = 4 * 1024 * 1024;

export function zones({ fallback, stale_memory: answersBytes }: CircuitBreakerConfig): readonly ZoneRequest[] {
  const circuits: ZoneRequest = { name: circuitsZone, bytes: circuitsBytes };
  return fallback === 'stale' ? [circuits, { name: answersZone, kind: 'store', bytes: answersBytes }] : [circuits];
}
