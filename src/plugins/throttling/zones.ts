import type { ZoneRequest } from '../../plugin-sdk/index.ts';

export const bucketsZone = 'turns';

/** Room for about 60,000 clients; all instances of the node share it. */
const bucketsBytes = 4 * 1024 * 1024;

export function zones(): readonly ZoneRequest[] {
  return [{ name: bucketsZone, bytes: bucketsBytes }];
}
