import type { ZoneRequest } from '../../plugin-sdk/index.ts';
import type { RateLimitingConfig } from './schema.ts';
import { parseSize } from './zone-size.ts';

/** Room for about 200,000 counters; all instances of the node share it. */
const countersBytes = 12 * 1024 * 1024;

export const countersZone = 'counters';

export const periods = ['second', 'minute', 'hour', 'day', 'month', 'year'] as const;

export function zones(config: RateLimitingConfig, instanceId: string): readonly ZoneRequest[] {
  const requests: ZoneRequest[] = [];
  if (periods.some((period) => config[period] !== null)) requests.push({ name: countersZone, bytes: countersBytes });
  if (config.rate !== null)
    requests.push({ name: rateZone(config, instanceId), bytes: parseSize(config.zone_size ?? '10m') ?? 0 });
  return requests;
}

/** The zone of the rate: the instance's own, or one that several instances name. */
export function rateZone({ zone }: Pick<RateLimitingConfig, 'zone'>, instanceId: string): string {
  return zone === null ? `rate-${instanceId}` : `rate-${zone}`;
}
