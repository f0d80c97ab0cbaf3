import type { ZoneRequest } from '../../plugin-sdk/index.ts';
import type { ResponseRatelimitingConfig } from './schema.ts';

export const countersZone = 'counters';

/** Room for about ten thousand clients; all instances of the node share it. */
const countersBytes = 4 * 1024 * 1024;

/** Counters of this node: always for `local`, and for `cluster` while the store is unavailable. */
export function zones({ policy, fault_tolerant: tolerant }: ResponseRatelimitingConfig): readonly ZoneRequest[] {
  const countsHere = (policy ?? 'local') === 'local' || (policy === 'cluster' && tolerant);
  return countsHere ? [{ name: countersZone, bytes: countersBytes }] : [];
}
