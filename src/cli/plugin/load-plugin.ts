import type { Plugin, PluginSchema } from '../../plugin-sdk/define-plugin.ts';
import { loadPlugins } from '../../shared/plugin-loader/load-plugins.ts';
import { loadProblem } from '../../shared/plugin-loader/load-problem.ts';
import { CliError } from '../cli-error.ts';
import type { PluginFolder } from './plugin-folder.ts';

export interface LoadedPlugin {
  readonly plugin: Plugin;
  readonly schema: PluginSchema;
}

/**
 * Loads a plugin as the gateway does, with its schema.
 *
 * @throws CliError One line with the reason, and `file:line:column` where it is known.
 */
export async function loadOwnPlugin({ entry }: PluginFolder): Promise<LoadedPlugin> {
  const plugins = await loadPlugins([entry]).catch((error: Error) => {
    throw new CliError(error.message.replace(/^plugins: /, ''), { cause: error });
  });
  const [plugin] = plugins.values();
  if (plugin === undefined) throw new CliError(`'${entry}' has no plugin`);
  try {
    return { plugin, schema: await plugin.loadSchema() };
  } catch (error) {
    throw new CliError(`the schema of '${plugin.name}' cannot be loaded: ${loadProblem(error, entry)}`, {
      cause: error,
    });
  }
}
