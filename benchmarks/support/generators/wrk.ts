import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { BenchError } from '../machine/tools.ts';

export interface LoadOptions {
  readonly url: string;
  readonly seconds: number;
  readonly connections: number;
  /** Lua script in `benchmarks/load/`; must end with `require("report")`'s `done`. */
  readonly script?: string;
  /** Passed to the script. */
  readonly args?: readonly string[];
}

/** What wrk measured. Latencies are milliseconds. */
export interface LoadFigures {
  readonly requests: number;
  readonly seconds: number;
  readonly bytes: number;
  /** Answers that were no 2xx or 3xx, and socket errors of any kind. */
  readonly failed: number;
  readonly p50: number;
  readonly p99: number;
  /** The slowest request. */
  readonly max: number;
}

const scripts = join(import.meta.dirname, '..', '..', 'load');

export async function load(wrk: string, options: LoadOptions): Promise<LoadFigures> {
  const script = join(scripts, options.script ?? 'get.lua');
  const args = [
    '-t1',
    `-c${options.connections}`,
    `-d${options.seconds}s`,
    '--timeout',
    '10s',
    '-s',
    script,
    options.url,
    '--',
  ];
  const output = await run(wrk, [...args, ...(options.args ?? [])]);
  const line = /^figures (.*)$/m.exec(output)?.[1];
  if (line === undefined) throw new BenchError(`wrk did not report: ${output.slice(0, 500)}`);
  return JSON.parse(line) as LoadFigures;
}

async function run(command: string, args: readonly string[]): Promise<string> {
  // The scripts share a file, which Lua looks for in the working directory.
  const child = spawn(command, args, { cwd: scripts, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0) throw new BenchError(`wrk ended with ${code}: ${output.slice(0, 500)}`);
  return output;
}
