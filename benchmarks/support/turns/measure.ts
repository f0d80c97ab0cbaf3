import type { BenchContext } from '../context.ts';
import { type LoadOptions, load } from '../generators/wrk.ts';
import { cpuMicroseconds } from '../machine/process-figures.ts';
import { BenchError } from '../machine/tools.ts';
import type { Subject } from '../subject.ts';
import { inTurns } from './rounds.ts';

/** What one subject showed in each round. */
export interface Measured {
  readonly cpuPerRequest: readonly number[];
  readonly requestsPerSecond: readonly number[];
  readonly p50: readonly number[];
  readonly p99: readonly number[];
}

/** What one subject showed in one round. */
export interface Once {
  readonly cpuPerRequest: number;
  readonly requestsPerSecond: number;
  readonly p50: number;
  readonly p99: number;
}

export interface Contender {
  readonly subject: Subject;
  readonly path: string;
  /** What it is loaded with, where that differs from the others. */
  readonly load?: Pick<LoadOptions, 'script' | 'args'>;
  /** Called before each of its turns; what it returns is called after it. */
  readonly meanwhile?: () => Promise<() => Promise<void>>;
}

type Load = Omit<LoadOptions, 'url' | 'seconds' | 'connections'> & { readonly connections?: number };

/** Loads each contender with wrk in turn, round after round. */
export async function measureInTurns(
  context: BenchContext,
  contenders: readonly Contender[],
  options: Load = {},
): Promise<readonly Measured[]> {
  const rounds = await inTurns(
    context,
    contenders.map(({ subject, path, load: own = {}, meanwhile }) => async (seconds: number) => {
      const end = await meanwhile?.();
      try {
        return await measureOnce(context, subject, path, seconds, { ...options, ...own });
      } finally {
        await end?.();
      }
    }),
  );
  return rounds.map((measured) => ({
    cpuPerRequest: measured.map((one) => one.cpuPerRequest),
    requestsPerSecond: measured.map((one) => one.requestsPerSecond),
    p50: measured.map((one) => one.p50),
    p99: measured.map((one) => one.p99),
  }));
}

async function measureOnce(
  context: BenchContext,
  subject: Subject,
  path: string,
  seconds: number,
  options: Load,
): Promise<Once> {
  const pids = subject.pids();
  const before = cpuMicroseconds(pids);
  const figures = await load(context.tools.wrk, { connections: 64, ...options, url: subject.url + path, seconds });
  const used = cpuMicroseconds(pids) - before;
  if (figures.failed > 0)
    throw new BenchError(`${subject.name} failed ${figures.failed} of ${figures.requests} requests for ${path}`);
  if (figures.requests === 0) throw new BenchError(`${subject.name} answered nothing within ${seconds} s for ${path}`);
  return {
    cpuPerRequest: used / figures.requests,
    requestsPerSecond: figures.requests / figures.seconds,
    p50: figures.p50,
    p99: figures.p99,
  };
}
