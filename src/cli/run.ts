import { CliError } from './cli-error.ts';
import type { CommandContext } from './command.ts';
import { commandHelp, generalHelp } from './commands/help.ts';
import { commands, findCommand } from './commands.ts';
import { parseArguments } from './parse-arguments.ts';

/** The environment of a run. Default: that of this process. */
export type RunOptions = Partial<Omit<CommandContext, 'arguments'>>;

/** Runs `sluicegate COMMAND [OPTIONS]` and resolves to the exit code. Never rejects. */
export async function run(argv: readonly string[], options: RunOptions = {}): Promise<number> {
  const err = options.err ?? ((line) => void process.stderr.write(`${line}\n`));
  try {
    return await dispatch(argv, { ...options, err });
  } catch (error) {
    report(error, argv, err);
    return 1;
  }
}

async function dispatch(argv: readonly string[], options: RunOptions & Pick<CommandContext, 'err'>): Promise<number> {
  const out = options.out ?? ((line) => void process.stdout.write(`${line}\n`));
  const [name = '--help', ...rest] = argv;
  if (name === '--help' || name === '-h') {
    out(generalHelp());
    return 0;
  }
  const command = findCommand(name === '--version' ? 'version' : name);
  if (command === undefined) throw new CliError(await unknownCommand(name));
  const parsed = parseArguments(command, rest);
  if (parsed.help) {
    out(commandHelp(command));
    return 0;
  }
  const words = command.argument?.split(' ') ?? [];
  const takesMore = words.at(-1)?.includes('...') === true;
  const extra = takesMore ? undefined : parsed.positionals[words.length];
  if (extra !== undefined) throw new CliError(`unexpected argument '${extra}' (see sluicegate ${command.name} --help)`);
  const execute = await command.load();
  return execute({
    arguments: parsed,
    env: options.env ?? process.env,
    cwd: options.cwd ?? process.cwd(),
    out,
    err: options.err,
    colours: options.colours ?? (process.stdout.isTTY === true && !process.env['NO_COLOR']),
    loadGateway:
      options.loadGateway ?? (async (settings) => (await import('./node/load-gateway.ts')).loadGateway(settings)),
  });
}

async function unknownCommand(name: string): Promise<string> {
  const { suggest } = await import('../shared/util/suggest.ts');
  const guess = suggest(
    name,
    commands.map((command) => command.name),
  );
  return `No such command: ${name}${guess === null ? '' : ` (did you mean ${guess}?)`}`;
}

function report(error: unknown, argv: readonly string[], err: CommandContext['err']): void {
  const message = error instanceof Error ? error.message : String(error);
  err(`Error: ${message}`);
  if (argv.some((word) => word === '--v' || word === '-v' || word === '--vv')) {
    err(error instanceof Error ? String(error.stack) : '');
  }
}
