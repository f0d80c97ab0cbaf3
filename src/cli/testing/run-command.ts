import { run } from '../run.ts';

export interface CommandResult {
  readonly code: number;
  /** Standard output. */
  readonly output: string;
  /** Standard error. */
  readonly errors: string;
}

/** Runs a command in this process, in `cwd` and without environment variables. */
export async function runCommand(cwd: string, ...argv: readonly string[]): Promise<CommandResult> {
  const output: string[] = [];
  const errors: string[] = [];
  const code = await run(argv, {
    env: {},
    cwd,
    colours: false,
    out: (line) => void output.push(line),
    err: (line) => void errors.push(line),
  });
  return { code, output: output.join('\n'), errors: errors.join('\n') };
}
