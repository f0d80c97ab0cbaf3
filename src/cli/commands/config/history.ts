import { CliError } from '../../cli-error.ts';
import type { CommandContext } from '../../command.ts';
import { withTarget } from '../../config/find-target.ts';

const defaultLimit = 20;

/** `config history`: the versions of the config, newest first. */
export async function history(context: CommandContext): Promise<number> {
  const { options } = context.arguments;
  const limit = limitOf(options['limit']);
  const versions = await withTarget(context, (target) => target.versions(limit));
  if (options['json'] === true) {
    context.out(JSON.stringify(versions));
    return 0;
  }
  const widths = versions.reduce((width, { version }) => Math.max(width, String(version).length), 7);
  for (const { version, at, actor, action, note, created, updated, deleted } of versions) {
    const numbers = action === 'start' ? 'the history begins' : `+${created} ~${updated} -${deleted}`;
    context.out(
      [
        String(version).padStart(widths),
        at,
        action.padEnd(8),
        actor ?? '-',
        numbers,
        ...(note === null ? [] : [`(${note})`]),
      ].join('  '),
    );
  }
  return 0;
}

function limitOf(text: string | true | undefined): number {
  if (text === undefined) return defaultLimit;
  if (typeof text !== 'string' || !/^[1-9]\d{0,4}$/.test(text))
    throw new CliError(`--limit is not a number: '${text}'`);
  return Number(text);
}
