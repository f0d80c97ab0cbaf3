import type { ZoneRequest } from '../../plugin-sdk/index.ts';
import type { PaginationConfig } from './schema.ts';

export const secretZone = 'secret';

/** Holds the secret that all workers share when none is configured. */
export function zones({ secret }: PaginationConfig): readonly ZoneRequest[] {
  return secret === null ? [{ name: secretZone, bytes: 4096, kind: 'raw' }] : [];
}
