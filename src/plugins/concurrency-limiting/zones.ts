import type { ZoneRequest } from '../../plugin-sdk/index.ts';

export const inFlightZone = 'in-flight';

/** Room for about 60,000 keys that have a request in flight; all instances of the node share it. */
const inFlightBytes = 4 * 1024 * 1024;

export function zones(): readonly ZoneRequest[] {
  return [{ name: inFlightZone, bytes: inFlightBytes }];
}
