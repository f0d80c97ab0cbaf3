import type { BodyMasker } from './masker.ts';

const kibibyte = 1024;

/**
 * Maximum bytes of a body that is masked in the worker itself. Measured with worst-case bodies: none takes longer than about
 * 20 ms.
 */
export function threadSize(masker: BodyMasker): number {
  if (masker.costly) return 0;
  return (masker.slow ? 16 : 64) * kibibyte;
}
