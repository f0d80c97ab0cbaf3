import type { ZoneRequest } from '../../plugin-sdk/index.ts';
import type { OpenIdConfig } from './schema.ts';
import { sharedResultsSize } from './shared-results.ts';

export const refreshesZone = 'refreshes';
export const secretZone = 'secret';

/** For refreshed tokens, and for the secret that all workers share when none is configured. */
export function zones(config: OpenIdConfig): readonly ZoneRequest[] {
  if (!hasSessions(config)) return [];
  const refreshes: ZoneRequest = { name: refreshesZone, bytes: sharedResultsSize, kind: 'raw' };
  return config.session_secret === null ? [refreshes, { name: secretZone, bytes: 4096, kind: 'raw' }] : [refreshes];
}

export function hasSessions({ auth_methods: methods }: OpenIdConfig): boolean {
  return methods.includes('session') || methods.includes('authorization_code');
}
