import { readdirSync, readFileSync, statSync } from 'node:fs';
import type { Settings } from '../../shared/settings/settings.ts';

/** Receives lines about file descriptors. */
export interface DescriptorLog {
  log(level: 'notice' | 'warn' | 'error', message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Milliseconds between two checks, and between two log lines while nothing changes. */
const interval = 500;
const logInterval = 30_000;
/** With this few or fewer left the process counts as out of descriptors: libuv reserves some for itself. */
const reserve = 4;
/** No warning at start from this limit on: the default of `nginx_events_worker_connections` is an upper bound. */
const highLimit = 8192;
/** Fraction of the limit below which the process counts as recovered. */
const recovered = 0.9;

/**
 * Notices that the process runs out of file descriptors. Nothing reports it: libuv accepts a connection for which none is left
 * and closes it at once, without an error.
 */
export class DescriptorWatch {
  readonly limit: number | null = descriptorLimit();
  readonly #log: DescriptorLog;
  #timer: NodeJS.Timeout | null = null;
  #exhaustions = 0;
  #exhausted = false;
  #suppressedUntil = 0;

  constructor(log: DescriptorLog) {
    this.#log = log;
  }

  /** How often the process ran out of file descriptors. */
  get exhaustions(): number {
    return this.#exhaustions;
  }

  /** Node itself has raised the soft limit to the hard one. */
  start({ workers, workerConnections }: Pick<Settings, 'workers' | 'workerConnections'>): void {
    const { limit } = this;
    if (limit === null) return;
    if (limit < Math.min(workers * workerConnections, highLimit)) {
      this.#log.log('warn', 'the open file limit is lower than the maximum number of connections', {
        limit,
        connections: workers * workerConnections,
        hint: 'raise it (ulimit -Hn, LimitNOFILE) or lower nginx_events_worker_connections',
      });
    }
    this.#timer = setInterval(() => this.#check(limit), interval).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  #check(limit: number): void {
    const open = openDescriptors() ?? limit;
    if (open > limit - reserve) this.#ranOut(open, limit);
    else if (this.#exhausted && open < limit * recovered) {
      this.#exhausted = false;
      this.#log.log('notice', 'file descriptors are available again', { open, limit });
    }
  }

  #ranOut(open: number, limit: number): void {
    if (!this.#exhausted) this.#exhaustions++;
    const now = performance.now();
    if (this.#exhausted && now < this.#suppressedUntil) return;
    this.#exhausted = true;
    this.#suppressedUntil = now + logInterval;
    this.#log.log('error', 'out of file descriptors; closing new connections until others end', { open, limit });
  }
}

/** Open file descriptors of the process; null: no descriptor is left to count them with. */
export function openDescriptors(): number | null {
  try {
    // Linux 6.2 and later report the count as the size.
    return statSync('/proc/self/fd').size || readdirSync('/proc/self/fd').length;
  } catch {
    return null;
  }
}

/** Null: unknown. */
function descriptorLimit(): number | null {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === undefined ? null : Number(limit);
  } catch {
    return null;
  }
}
