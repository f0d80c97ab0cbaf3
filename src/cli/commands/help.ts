import { CliError } from '../cli-error.ts';
import type { CommandContext, CommandDescription, CommandOption } from '../command.ts';
import { commands, findCommand } from '../commands.ts';

export async function help(context: CommandContext): Promise<number> {
  const [topic] = context.arguments.positionals;
  if (topic === undefined) context.out(generalHelp());
  else if (topic === 'settings') context.out((await import('./settings-help.ts')).settingsHelp());
  else context.out(commandHelp(commandNamed(topic)));
  return 0;
}

export function generalHelp(): string {
  return [
    'Usage: sluicegate COMMAND [OPTIONS]',
    '',
    'An API gateway with the Admin API of Kong.',
    '',
    'Commands:',
    ...commands.map((command) => twoColumns(command.name, command.summary)),
    '',
    'Options:',
    twoColumns('--help', 'explain the command'),
    twoColumns('--v, --vv', 'print errors with their stack'),
  ].join('\n');
}

export function commandHelp(command: CommandDescription): string {
  const argument = command.argument === undefined ? '' : ` ${command.argument}`;
  const lines = [`Usage: sluicegate ${command.name}${argument} [OPTIONS]`, '', `${command.summary}.`];
  if (command.options.length > 0) lines.push('', 'Options:', ...command.options.map(optionLine));
  if (command.takesSettings) {
    lines.push(
      '',
      'Every setting is also an option, which takes precedence over environment and file: --log-level debug.',
      'List them with: sluicegate help settings',
    );
  }
  return lines.join('\n');
}

function commandNamed(name: string): CommandDescription {
  const command = findCommand(name);
  if (command === undefined) throw new CliError(`No such command: ${name}`);
  return command;
}

function optionLine(option: CommandOption): string {
  const short = option.short === undefined ? '' : `-${option.short}, `;
  const value = option.value === undefined ? '' : ` ${option.value}`;
  return twoColumns(`${short}--${option.name}${value}`, option.description);
}

function twoColumns(left: string, right: string): string {
  return `  ${left.padEnd(24)}  ${right}`;
}
