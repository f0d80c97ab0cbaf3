import { join } from 'node:path';
import type { Settings } from '../../shared/settings/settings.ts';

/** The directory of compiled code that is kept between starts. */
export function compileCacheOf({ prefix }: Pick<Settings, 'prefix'>): string {
  return process.env['NODE_COMPILE_CACHE'] ?? join(prefix, 'cache');
}
