import type { BenchContext } from './context.ts';
import { median } from './figures.ts';
import { cpuMicroseconds } from './process-figures.ts';
import type { Subject } from './subject.ts';
import { BenchError } from './tools.ts';
import { type LoadOptions, load } from './wrk.ts';

/** Medians over the rounds of one subject. */
export interface Measured {
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

/**
 * Loads each contender in turn, round after round, so that what disturbs the machine disturbs all of them; the first
 * turn of each warms it up and is not counted.
 */
export async function measureInTurns(
  context: BenchContext,
  contenders: readonly Contender[],
  options: Omit<LoadOptions, 'url' | 'seconds' | 'connections'> & { readonly connections?: number } = {},
): Promise<readonly Measured[]> {
  const rounds = contenders.map(() => [] as Measured[]);
  for (let round = 0; round <= context.rounds; round++) {
    for (const [index, { subject, path, load: own = {}, meanwhile }] of contenders.entries()) {
      const seconds = round === 0 ? Math.min(3, context.seconds) : context.seconds;
      const end = await meanwhile?.();
      try {
        const measured = await measureOnce(context, subject, path, seconds, { ...options, ...own });
        if (round > 0) rounds[index]?.push(measured);
      } finally {
        await end?.();
      }
    }
  }
  return rounds.map((measured) => ({
    cpuPerRequest: median(measured.map((one) => one.cpuPerRequest)),
    requestsPerSecond: median(measured.map((one) => one.requestsPerSecond)),
    p50: median(measured.map((one) => one.p50)),
    p99: median(measured.map((one) => one.p99)),
  }));
}

async function measureOnce(
  context: BenchContext,
  subject: Subject,
  path: string,
  seconds: number,
  options: Omit<LoadOptions, 'url' | 'seconds' | 'connections'> & { readonly connections?: number },
): Promise<Measured> {
  const pids = subject.pids();
  const before = cpuMicroseconds(pids);
  const figures = await load(context.tools.wrk, { connections: 64, ...options, url: subject.url + path, seconds });
  const used = cpuMicroseconds(pids) - before;
  if (figures.failed > 0)
    throw new BenchError(`${subject.name} failed ${figures.failed} of ${figures.requests} requests for ${path}`);
  return {
    cpuPerRequest: used / figures.requests,
    requestsPerSecond: figures.requests / figures.seconds,
    p50: figures.p50,
    p99: figures.p99,
  };
}
