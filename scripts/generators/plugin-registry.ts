import { finishedPlugins } from '../lib/files.ts';
import type { Generator } from '../lib/generated-file.ts';

const head = `// Generated from the folder names by \`npm run generate\`. Do not edit.
import type { PluginLoader } from '../plugin-sdk/define-plugin.ts';

export const bundledPlugins: ReadonlyMap<string, PluginLoader> = new Map<string, PluginLoader>([
`;

/** The list of bundled plugins, so that adding one touches its own folder only. */
export const generatePluginRegistry: Generator = async () => {
  const lines = finishedPlugins().map((name) => `  ['${name}', () => import('./${name}/index.ts')],\n`);
  return [{ path: 'src/plugins/registry.ts', content: `${head}${lines.join('')}]);\n` }];
};
