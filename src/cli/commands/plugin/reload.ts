import { jsonOf } from '../../admin-api/admin-api.ts';
import { findAdmin } from '../../admin-api/find-admin.ts';
import { CliError } from '../../cli-error.ts';
import type { CommandContext } from '../../command.ts';

/** Milliseconds for everything but the observation. */
const grace = 60_000;

interface Outcome {
  readonly state?: string;
  readonly plugins?: readonly string[];
  readonly reason?: string;
  readonly message?: string;
  readonly judged_by?: number;
}

/** `plugin reload [--observe 10s]`: exchanges the code of the plugins of a running node. */
export async function reloadPlugins(context: CommandContext): Promise<number> {
  const observe = secondsOf(context.arguments.options['observe']);
  const body = JSON.stringify(observe === null ? {} : { observe });
  const answer = await findAdmin(context).send('POST', '/plugins/reload', grace + (observe ?? 10) * 1000, body);
  const outcome = jsonOf(answer) as Outcome;
  const names = (outcome.plugins ?? []).join(', ');
  if (outcome.state === 'unchanged') context.out('The code of the plugins has not changed');
  else if (outcome.state === 'live') {
    const judged = outcome.judged_by === undefined ? '' : ` (judged by ${outcome.judged_by} requests)`;
    context.out(`Live: ${names}${judged}`);
    return 0;
  } else {
    const what = outcome.state === 'rolled_back' ? 'rolled back' : 'refused';
    throw new CliError(
      `${what}${names === '' ? '' : ` (${names})`}: ${outcome.reason ?? outcome.message ?? answer.status}`,
    );
  }
  return 0;
}

function secondsOf(text: unknown): number | null {
  if (text === undefined) return null;
  const [, count] = /^(\d{1,3})s?$/.exec(String(text)) ?? [];
  if (count === undefined) throw new CliError('--observe must be a number of seconds, such as 10s');
  return Number(count);
}
