import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';

type Options = CommandContext['arguments']['options'];

/** The text of an option; null when it is missing. */
export function textOption(options: Options, name: string): string | null {
  const value = options[name];
  return typeof value === 'string' ? value : null;
}

/** `a,b`; null when it is missing. */
export function listOption(options: Options, name: string): readonly string[] | null {
  const parts = textOption(options, name)
    ?.split(',')
    .map((part) => part.trim());
  return parts?.filter((part) => part !== '') ?? null;
}

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** `90d` in seconds; null when it is missing. */
export function durationOption(options: Options, name: string): number | null {
  const text = textOption(options, name);
  if (text === null) return null;
  const [, number = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (number === '' || Number(number) === 0)
    throw new CliError(`--${name} must be a duration such as 90d, 12h or 30m: '${text}'`);
  return Number(number) * (units[unit] ?? 1);
}

/** A positional argument; an error with the usage when it is missing. */
export function needArgument(context: CommandContext, index: number, usage: string): string {
  const value = context.arguments.positionals[index];
  if (value === undefined) throw new CliError(`usage: sluicegate admin-user ${usage}`);
  return value;
}
