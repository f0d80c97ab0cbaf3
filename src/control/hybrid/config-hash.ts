import { createHash } from 'node:crypto';

/** As Kong's, which is an MD5 sum. */
const hashLength = 32;

/** What nodes with the same config have in common: 32 hexadecimal digits. `version` -1: no config. */
export function configHash({ store, version }: { readonly store: string; readonly version: number }): string {
  if (version < 0) return '0'.repeat(hashLength);
  return createHash('sha256').update(`${store} ${version}`).digest('hex').slice(0, hashLength);
}
