import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { originOf } from '../../../shared/plugin-loader/plugin-origin.ts';
import type { ListedPlugin } from '../contract.ts';
import { type AdminRoute, ok } from '../http/admin-route.ts';
import { plainError } from '../http/http-error.ts';

/** Next to the compiled plugins in the published package, and in their folders in a clone. */
const bundledFolder = fileURLToPath(new URL('../../../plugins', import.meta.url));

/** Bytes of a README that are shown. */
const maxReadme = 256 * 1024;

/** `GET /schemas/plugins/{name}/docs`: the README of a plugin, and what it says that it reaches. */
export function pluginDocsRoute(plugins: ReadonlyMap<string, ListedPlugin>): AdminRoute {
  return {
    path: '/schemas/plugins/{name}/docs',
    tag: 'schemas',
    operations: {
      GET: {
        access: 'read',
        handle: async ({ params: { name = '' } }) => {
          const plugin = plugins.get(name);
          if (plugin === undefined) throw plainError(404, `No plugin named '${name}'`);
          const { version, capabilities = null } = plugin;
          const bundled = originOf(plugin) === null;
          return ok({ name, version, bundled, capabilities, readme: await readmeOf(name, plugin) });
        },
        notes: {
          summary: 'README of a plugin, as Markdown (null if it has none), and its declared capabilities',
          answer: 'object',
        },
      },
    },
  };
}

/** Of a plugin of a user: the README next to its module. Its schema describes the fields of those without. */
async function readmeOf(name: string, plugin: object): Promise<string | null> {
  const file = originOf(plugin);
  return await readText(join(file === null ? join(bundledFolder, name) : dirname(file), 'README.md'));
}

async function readText(path: string): Promise<string | null> {
  try {
    await using file = await open(path, 'r');
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxReadme), 0, maxReadme, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } catch {
    return null;
  }
}
