import type { ZoneRequest } from '../../plugin-sdk/index.ts';
import type { SessionConfig } from './schema.ts';

export const secretZone = 'secret';

/** Holds the secret that all workers share when none is configured. */
export function zones({ secret }: SessionConfig): readonly ZoneRequest[] {
  return secret === null ? [{ name: secretZone, bytes: 4096, kind: 'raw' }] : [];
}
