import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { root } from './files.ts';

export interface Step {
  readonly name: string;
  readonly command: string;
  readonly argv: readonly string[];
  /** Looks at the output of a step that succeeded; a text says why it counts as failed after all. */
  readonly inspect?: (output: string) => string | null;
  /** Shows the last lines of the output even when all is well. */
  readonly summary?: (output: string) => string;
}

/** Runs a script of the project with the Node that runs this one. */
export function script(name: string, path: string, ...argv: readonly string[]): Step {
  return {
    name,
    command: process.execPath,
    argv: ['--disable-warning=ExperimentalWarning', join(root, path), ...argv],
  };
}

/** Runs a tool of `node_modules/.bin`. */
export function tool(name: string, bin: string, ...argv: readonly string[]): Step {
  return { name, command: join(root, 'node_modules', '.bin', bin), argv };
}

/** Runs the steps side by side, ends the others when one fails, and tells whether all succeeded. */
export async function runTogether(steps: readonly Step[]): Promise<boolean> {
  const stop = new AbortController();
  const results = await Promise.all(
    steps.map(async (step) => {
      const succeeded = await runStep(step, stop.signal);
      if (!succeeded) stop.abort();
      return succeeded;
    }),
  );
  return results.every((succeeded) => succeeded);
}

async function runStep(step: Step, signal: AbortSignal): Promise<boolean> {
  const start = performance.now();
  const { code, output } = await execute(step, signal);
  if (signal.aborted) return false;
  const text = stripVTControlCharacters(output);
  const complaint = code === 0 ? (step.inspect?.(text) ?? null) : `exit code ${code}`;
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  if (complaint !== null) {
    print(`${output.trimEnd()}\n\nFAILED  ${step.name}: ${complaint} (${seconds} s)`);
    return false;
  }
  const summary = step.summary?.(text) ?? '';
  print(`ok  ${step.name.padEnd(28)} ${seconds.padStart(6)} s${summary === '' ? '' : `  ${summary}`}`);
  return true;
}

function execute(step: Step, signal: AbortSignal): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(step.command, step.argv, { cwd: root, signal, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.on('error', (error) => resolve({ code: 1, output: output + error.message }));
    child.on('close', (code) => resolve({ code, output }));
  });
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
