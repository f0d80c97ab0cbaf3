import { createRequire } from 'node:module';
import { extname } from 'node:path';

/**
 * Loads a module of the plugin at once, where it is needed: for the checks of a schema that want a heavy library, which every start of
 * the gateway would pay for otherwise. `here`: `import.meta.filename`; `name`: `./problems`, without its ending.
 */
export function loadNow<T>(here: string, name: string): T {
  return createRequire(here)(name + extname(here)) as T;
}
