import { spawn } from 'node:child_process';
import { BenchError } from '../machine/tools.ts';

export interface Http2LoadOptions {
  readonly url: string;
  readonly seconds: number;
  readonly connections: number;
  /** Streams that a connection has open at once. */
  readonly streams: number;
  /** More of h2load's own options, such as those of the message. */
  readonly options?: readonly string[];
}

export interface Http2LoadFigures {
  readonly requests: number;
  readonly seconds: number;
  readonly failed: number;
}

/** Loads with h2load for a time and reads what it reports. */
export async function http2Load(h2load: string, options: Http2LoadOptions): Promise<Http2LoadFigures> {
  const { url, seconds, connections, streams } = options;
  const words = ['-t1', `-c${connections}`, `-m${streams}`, `-D${seconds}`, ...(options.options ?? []), url];
  const child = spawn(h2load, words, {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  const counts = /^requests: .* (\d+) done, (\d+) succeeded, (\d+) failed/m.exec(output);
  if (code !== 0 || counts === null) throw new BenchError(`h2load ended with ${code}: ${output.slice(0, 500)}`);
  return { requests: Number(counts[1]), seconds, failed: Number(counts[3]) + notFine(output) };
}

/** Answers that were no 2xx. */
function notFine(output: string): number {
  const codes = /^status codes: \d+ 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx/m.exec(output);
  return codes === null ? 0 : Number(codes[1]) + Number(codes[2]) + Number(codes[3]);
}
