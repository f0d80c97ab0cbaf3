import type { ZoneRequest } from '../../plugin-sdk/index.ts';

export const budgetZone = 'budget';

/** Two counts for each service: room for about 15,000 services; all instances of the node share it. */
const budgetBytes = 2 * 1024 * 1024;

export function zones(): readonly ZoneRequest[] {
  return [{ name: budgetZone, bytes: budgetBytes }];
}
