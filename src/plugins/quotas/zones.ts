import type { ZoneRequest } from '../../plugin-sdk/index.ts';
import type { QuotasConfig } from './schema.ts';

export const countersZone = 'counters';

/** Room for about ten thousand clients; all instances of the node share it. */
const countersBytes = 4 * 1024 * 1024;

/** Counters of this node, for the time that the store is unavailable. */
export function zones({ fault_tolerant: tolerant }: QuotasConfig): readonly ZoneRequest[] {
  return tolerant ? [{ name: countersZone, bytes: countersBytes }] : [];
}
