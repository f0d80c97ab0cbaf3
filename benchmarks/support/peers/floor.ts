import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { placed } from '../machine/placement.ts';
import { BenchError } from '../machine/tools.ts';
import type { Subject } from '../subject.ts';
import { stopProcess } from './nginx.ts';

/** One of Node's servers that answers by itself: what no gateway on top of it can be below. */
export async function startFloor(kind: 'http2' | 'tls', cert: string, key: string): Promise<Subject> {
  const script = join(import.meta.dirname, '..', '..', 'load', `${kind}-floor.ts`);
  const words = ['--disable-warning=ExperimentalWarning', script, cert, key];
  const child = spawn(...placed('subject', process.execPath, words), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout.once('data', (line: Buffer) => resolve(Number(line.toString())));
    child.once('exit', (code) => reject(new BenchError(`the floor ended with ${code} instead of starting`)));
  });
  return {
    name: `node:${kind}`,
    port,
    url: `https://127.0.0.1:${port}`,
    pids: () => [child.pid as number],
    stop: () => stopProcess(child),
  };
}
