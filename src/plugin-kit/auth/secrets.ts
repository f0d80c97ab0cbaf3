import { hash, timingSafeEqual } from 'node:crypto';

/**
 * Compares two secrets in a time that does not depend on where they differ, nor on their lengths.
 *
 * @example
 * if (!equalSecrets(request.header('x-token') ?? '', config.token)) return refuse(401, 'Unauthorized');
 */
export function equalSecrets(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'));
}
