import type { BodyFormat } from './body-types.ts';
import type { BodyMasker } from './masker.ts';

const kibibyte = 1024;

/** Largest body that is masked in the worker itself, in bytes: none of them takes longer than about 15 ms there. */
export function threadSize(masker: BodyMasker, format: BodyFormat): number {
  if (masker.costly) return kibibyte;
  if (masker.slow) return 16 * kibibyte;
  return format === 'xml' ? 64 * kibibyte : 128 * kibibyte;
}
