import { kongVersion, version } from '../../version.ts';
import type { CommandContext } from '../command.ts';

export async function printVersion(context: CommandContext): Promise<number> {
  if (context.arguments.options['all'] !== true) {
    context.out(version);
    return 0;
  }
  context.out(`Sluicegate: ${version}`);
  context.out(`Kong interfaces: ${kongVersion}`);
  for (const name of ['node', 'v8', 'sqlite', 'openssl']) context.out(`${name}: ${process.versions[name] ?? 'absent'}`);
  return 0;
}
