import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { BenchError } from '../machine/tools.ts';

const folder = join(import.meta.dirname, '..', '..', 'load');

/** Runs a generator of `benchmarks/load/` in a process of its own. Returns the line of JSON that it prints. */
export async function nodeLoad<T>(script: string, args: readonly (string | number)[]): Promise<T> {
  const words = ['--disable-warning=ExperimentalWarning', join(folder, script), ...args.map(String)];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new BenchError(`${script} ended with ${code}`);
  return JSON.parse(output) as T;
}
