import { setTimeout as pause } from 'node:timers/promises';
import { fileVersion } from '../../../shared/util/files/file-version.ts';
import { CliError } from '../../cli-error.ts';
import type { CommandContext } from '../../command.ts';
import { carryOut } from '../../config/carry-out.ts';
import type { ApplyOutcome } from '../../config/config-target.ts';
import { filesOf, readFiles } from '../../config/document-arguments.ts';
import { withTarget } from '../../config/find-target.ts';
import { planLines } from '../../config/print-plan.ts';
import { listFiles } from '../../config/read-documents.ts';

const usage = 'apply <file>...';

/** `config apply <file>...`: makes the config that of the document. With `--watch` again whenever a file changes. */
export async function apply(context: CommandContext): Promise<number> {
  if (context.arguments.options['watch'] !== true) {
    await applyOnce(context);
    return 0;
  }
  if (filesOf(context, usage).includes('-')) throw new CliError('standard input cannot be watched');
  return watch(context);
}

async function applyOnce(context: CommandContext): Promise<void> {
  const read = await readFiles(context, usage);
  print(context, await withTarget(context, (target) => carryOut(context, target, read, false)));
}

function print({ arguments: { options }, out }: CommandContext, outcome: ApplyOutcome): void {
  if (options['json'] === true) {
    out(JSON.stringify(outcome));
    return;
  }
  for (const line of planLines(outcome, 'did')) out(line);
  out(outcome.version === null ? 'the config was already that of the document' : `version ${outcome.version}`);
}

/** Milliseconds between two looks at the files, and without a change after which a write counts as complete. */
const interval = 500;
const settleTime = 200;

/**
 * Until the process ends. A bad file leaves the config as it is. The files are looked at: notifications of the system do not reach
 * network file systems, or a directory that is replaced as a whole.
 */
async function watch(context: CommandContext): Promise<number> {
  const paths = filesOf(context, usage);
  let applied: string | null = null;
  for (;;) {
    const seen = await versionOf(paths, context.cwd);
    if (seen === applied) {
      await pause(interval);
      continue;
    }
    if (applied !== null) {
      await pause(settleTime);
      if ((await versionOf(paths, context.cwd)) !== seen) continue;
    }
    try {
      await applyOnce(context);
    } catch (error) {
      context.err(`Error: ${error instanceof Error ? error.message : error}`);
      if (applied !== null) context.err('the config stays as it was');
    }
    applied = seen;
  }
}

/** Changes with the content of any file, and with the names in a folder. */
async function versionOf(paths: readonly string[], cwd: string): Promise<string> {
  const names = listFiles(paths, cwd);
  const versions = await Promise.all(names.map(async (name) => `${name} ${await fileVersion(name)}`));
  return versions.join('\n');
}
