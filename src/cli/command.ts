import type { Gateway, StartOptions } from '../gateway.ts';
import type { Settings } from '../shared/settings/settings.ts';

export interface CommandOption {
  /** `timeout` for `--timeout`. */
  readonly name: string;
  /** `t` for `-t`. */
  readonly short?: string;
  /** The name of its value in the help; absent for a switch. */
  readonly value?: string;
  /** It can be repeated (`ParsedArguments.lists`). */
  readonly repeatable?: true;
  readonly description: string;
}

/** What the help and the parser need of a command; its code is loaded only when it runs. */
export interface CommandDescription {
  readonly name: string;
  readonly summary: string;
  /** After the name on the usage line: `[file]`. */
  readonly argument?: string;
  readonly options: readonly CommandOption[];
  /** True when every setting may be given as an option. */
  readonly takesSettings: boolean;
  load(): Promise<Command>;
}

export interface ParsedArguments {
  readonly positionals: readonly string[];
  /** The command's own options; a switch is `true`. */
  readonly options: Readonly<Record<string, string | true>>;
  /** Values of options that may be repeated, in order. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
  /** Other options, which must be settings; `true` when they had no value. */
  readonly settings: Readonly<Record<string, string | true>>;
  readonly help: boolean;
  /** `--v`, `--vv`: errors are printed with their stack. */
  readonly verbose: boolean;
}

/** Runs and resolves to the exit code; rejects with an error whose message is one line for the person at the terminal. */
export type Command = (context: CommandContext) => Promise<number>;

/** The environment of a command. */
export interface CommandContext {
  readonly arguments: ParsedArguments;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Writes a line to standard output. */
  readonly out: (line: string) => void;
  /** Writes a line to standard error. */
  readonly err: (line: string) => void;
  /** Standard output is a terminal that supports colours. */
  readonly colours: boolean;
  readonly loadGateway: (settings: Settings) => Promise<GatewayModule>;
}

/** What `start` needs of the gateway; loaded when it is needed. */
export interface GatewayModule {
  /** Resolves when the node listens. Rejects with a one-line message when it cannot. */
  readonly startGateway: (settings: Settings, warnings: readonly string[], options: StartOptions) => Promise<Gateway>;
}
