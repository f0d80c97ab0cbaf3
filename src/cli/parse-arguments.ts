import { CliError } from './cli-error.ts';
import type { CommandDescription, CommandOption, ParsedArguments } from './command.ts';

const universal: ReadonlySet<string> = new Set(['--help', '-h', '--v', '-v', '--vv']);

/** Parses the arguments after the name of a command: `--name value`, `--name=value`, `-n value`, `--switch`. */
export function parseArguments(command: CommandDescription, argv: readonly string[]): ParsedArguments {
  const positionals: string[] = [];
  const options: Record<string, string | true> = {};
  const lists: Record<string, string[]> = {};
  const settings: Record<string, string | true> = {};
  const words = [...argv];
  let help = false;
  let verbose = false;
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (universal.has(word)) {
      help ||= word === '--help' || word === '-h';
      verbose ||= !(word === '--help' || word === '-h');
      continue;
    }
    if (!word.startsWith('-') || word === '-') {
      positionals.push(word);
      continue;
    }
    const { name, value } = split(word);
    const option = findOption(command, word.startsWith('--'), name);
    if (option !== undefined) {
      const given = optionValue(option, word, value, words);
      if (option.repeatable !== true) options[option.name] = given;
      else lists[option.name] = [...(lists[option.name] ?? []), String(given)];
    } else if (command.takesSettings && word.startsWith('--')) settings[name] = value ?? nextValue(words) ?? true;
    else throw new CliError(`unknown option ${word} (see sluicegate ${command.name} --help)`);
  }
  return { positionals, options, lists, settings, help, verbose };
}

function split(word: string): { name: string; value: string | undefined } {
  const bare = word.replace(/^--?/, '');
  const at = bare.indexOf('=');
  return at < 0 ? { name: bare, value: undefined } : { name: bare.slice(0, at), value: bare.slice(at + 1) };
}

function findOption(command: CommandDescription, long: boolean, name: string): CommandOption | undefined {
  return command.options.find((option) => (long ? option.name : option.short) === name);
}

function optionValue(option: CommandOption, word: string, value: string | undefined, words: string[]): string | true {
  if (option.value === undefined) {
    if (value !== undefined) throw new CliError(`option ${word} takes no value`);
    return true;
  }
  const given = value ?? nextValue(words);
  if (given === undefined) throw new CliError(`option ${word} needs a value (${option.value})`);
  return given;
}

/** The next word, unless it is an option itself. */
function nextValue(words: string[]): string | undefined {
  return words[0] === undefined || /^-./.test(words[0]) ? undefined : words.shift();
}
