import { basename, relative, resolve } from 'node:path';
import { bundledDefinitions } from '../../../plugins/definitions.ts';
import { version } from '../../../version.ts';
import { CliError } from '../../cli-error.ts';
import type { CommandContext } from '../../command.ts';
import { loadCreator } from '../../plugin/creator.ts';

/** `plugin new <name>`: the folder that `npm create sluicegate-plugin <name>` makes, without npm. */
export async function newPlugin({ arguments: { positionals }, cwd, out }: CommandContext): Promise<number> {
  const [, target, ...more] = positionals;
  if (target === undefined || more.length > 0) throw new CliError('usage: sluicegate plugin new <name>');
  const { createPlugin, nextSteps } = await loadCreator();
  const folder = resolve(cwd, target);
  const name = basename(folder);
  if (bundledDefinitions.has(name)) throw new CliError(`a plugin with the name '${name}' comes with the gateway`);
  try {
    createPlugin(folder, { gateway: version });
  } catch (error) {
    throw new CliError(error instanceof Error ? error.message : String(error), { cause: error });
  }
  for (const line of nextSteps(relative(cwd, folder) || '.')) out(line);
  return 0;
}
