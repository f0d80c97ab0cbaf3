import type { CommandContext } from './command.ts';
import { settingsOf } from './settings-of.ts';

export async function check(context: CommandContext): Promise<number> {
  const { file, warnings } = settingsOf(context, context.arguments.positionals[0]);
  for (const warning of warnings) context.err(`Warning: ${warning}`);
  context.out(file === null ? 'the settings are valid (no file was found)' : `configuration at ${file} is valid`);
  return 0;
}
