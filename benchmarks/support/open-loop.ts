import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { BenchError } from './tools.ts';

const generator = join(import.meta.dirname, '..', 'load', 'open-loop.ts');

export interface OpenLoopOptions {
  /** Without a query. */
  readonly url: string;
  /** Requests per second, whatever the answers do. */
  readonly rate: number;
  readonly seconds: number;
  readonly connections: number;
}

/** Latencies are milliseconds, from when a request was due. */
export interface OpenLoopFigures {
  readonly requests: number;
  readonly failed: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/** Loads at a constant rate, in a process of its own. */
export async function openLoopLoad(options: OpenLoopOptions): Promise<OpenLoopFigures> {
  const { hostname, port, pathname } = new URL(options.url);
  const numbers = [options.rate, options.seconds, options.connections].map(String);
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', generator, hostname, port, pathname, ...numbers],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new BenchError(`the load at a constant rate ended with ${code}`);
  return JSON.parse(output) as OpenLoopFigures;
}
