import type { ZoneRequest } from '../../plugin-sdk/index.ts';

export const countersZone = 'counters';

/** Room for about ten thousand clients; all instances of the node share it. */
const countersBytes = 4 * 1024 * 1024;

/** What this node knows of the counters, and accepts while the store is unavailable. */
export function zones(): readonly ZoneRequest[] {
  return [{ name: countersZone, bytes: countersBytes }];
}
