import type { BodyMasker } from './masker.ts';

const kibibyte = 1024;

/**
 * Largest body that is masked in the worker itself, in bytes. Measured with bodies made to be slow: none of them takes longer than
 * about 20 ms there.
 */
export function threadSize(masker: BodyMasker): number {
  if (masker.costly) return 0;
  return (masker.slow ? 16 : 64) * kibibyte;
}
