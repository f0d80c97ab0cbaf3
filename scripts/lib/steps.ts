import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { root } from './files.ts';
import { killIfThere, processesBelow } from './processes.ts';

export interface Step {
  readonly name: string;
  readonly command: string;
  readonly argv: readonly string[];
  /** Looks at the output of a step that succeeded; a text says why it counts as failed after all. */
  readonly inspect?: (output: string) => string | null;
  /** Shows the last lines of the output even when all is well. */
  readonly summary?: (output: string) => string;
  /**
   * Milliseconds without any output after which it counts as hung, and fails. The process that it started first is ended then, and the others
   * can finish. Default: no bound.
   */
  readonly silence?: number;
}

/** Runs a script of the project with the Node that runs this one. */
export function script(name: string, path: string, ...argv: readonly string[]): Step {
  return {
    name,
    command: process.execPath,
    argv: ['--disable-warning=ExperimentalWarning', '--conditions=sluicegate-source', join(root, path), ...argv],
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
  const { code, output, hung } = await execute(step, signal);
  if (signal.aborted) return false;
  const text = stripVTControlCharacters(output);
  let complaint = code === 0 ? (step.inspect?.(text) ?? null) : `exit code ${code}`;
  if (hung.length > 0) complaint = `no output for ${(step.silence ?? 0) / 1000} s; ended ${hung.join(', ')}`;
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  if (complaint !== null) {
    print(`${output.trimEnd()}\n\nFAILED  ${step.name}: ${complaint} (${seconds} s)`);
    return false;
  }
  const summary = step.summary?.(text) ?? '';
  print(`ok  ${step.name.padEnd(28)} ${seconds.padStart(6)} s${summary === '' ? '' : `  ${summary}`}`);
  return true;
}

interface Executed {
  readonly code: number | null;
  readonly output: string;
  /** What was ended because of the silence. */
  readonly hung: readonly string[];
}

function execute(step: Step, signal: AbortSignal): Promise<Executed> {
  return new Promise((resolve) => {
    const child = spawn(step.command, step.argv, { cwd: root, signal, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const hung: string[] = [];
    const watch = step.silence === undefined ? null : setInterval(endOldest, step.silence);
    function endOldest(): void {
      const own = { pid: child.pid ?? 0, command: step.name };
      const [oldest = own] = processesBelow(own.pid).filter(({ parent }) => parent === own.pid);
      hung.push(oldest.command);
      for (const { pid } of [oldest, ...processesBelow(oldest.pid)]) killIfThere(pid);
    }
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        watch?.refresh();
      });
    }
    child.on('error', (error) => resolve({ code: 1, output: output + error.message, hung }));
    child.on('close', (code) => {
      if (watch !== null) clearInterval(watch);
      resolve({ code, output, hung });
    });
  });
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
