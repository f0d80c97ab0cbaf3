import type { ZoneRequest } from '../../plugin-sdk/index.ts';
import type { ResponseRatelimitingConfig } from './schema.ts';

export const countersZone = 'counters';

/** Room for about ten thousand clients; all instances of the node share it. */
const countersBytes = 4 * 1024 * 1024;

/** Counters of this node for `local`, its leases for `cluster`. */
export function zones({ policy }: ResponseRatelimitingConfig): readonly ZoneRequest[] {
  return policy === 'redis' ? [] : [{ name: countersZone, bytes: countersBytes }];
}
