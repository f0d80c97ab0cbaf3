import { readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { getPriority, setPriority } from 'node:os';
import { sharedClock } from '../../shared/util/time/clock.ts';
import { NodeVitals } from '../../shared/zones/worker-vitals.ts';

/** Nice steps below the workers: on a fully loaded machine the control plane still gets a tenth of a core. */
const below = 10;
const lowest = 19;
/** Milliseconds without a call of a worker after which the priority is lowered again. */
const quiet = 1000;
/** Bit of Linux's capability to raise priorities. */
const capSysNice = 23n;

/**
 * Runs the control plane's thread at a lower priority than the workers, so that a write to the Admin API waits for traffic and not
 * the other way round. On Linux each thread has its own priority, and a new thread inherits that of the thread that starts it. So the
 * priority is lowered only where it can be raised again to start a worker: as root, or with `ulimit -e 20`.
 *
 * While workers call the control plane (lookups, leases of limits), requests wait for it: the worker that calls gives it the normal
 * priority (`data/worker/hurry-control-plane.ts`), which it keeps until no worker has called for a second.
 */
export class ControlPlanePriority {
  readonly #normal = process.platform === 'linux' ? getPriority() : 0;
  readonly #vitals: NodeVitals;
  readonly #clock = sharedClock();
  #lowered: number | null = null;

  /** `vitals`: of the node, shared with its workers. */
  constructor(vitals: SharedArrayBuffer) {
    this.#vitals = new NodeVitals(vitals);
  }

  /** Called on the main thread, once all workers have been started. Does nothing where the priority could not be raised again. */
  async lower(): Promise<void> {
    if (!canReturnTo(this.#normal)) return;
    // libuv's threads for files and names serve the workers, too. They start at their first use, with the priority of that moment.
    await stat('.');
    this.#lowered = Math.min(lowest, this.#normal + below);
    this.#lowerWhenQuiet(this.#lowered);
    setInterval((lowered) => this.#lowerWhenQuiet(lowered), quiet, this.#lowered).unref();
  }

  /** Starts a thread with the priority that the process has. */
  startThread<T>(start: () => T): T {
    if (this.#lowered === null) return start();
    raise(this.#normal);
    this.#vitals.loweredFrom = null;
    try {
      return start();
    } finally {
      this.#lowerWhenQuiet(this.#lowered);
    }
  }

  #lowerWhenQuiet(lowered: number): void {
    const { calledAt, loweredFrom } = this.#vitals;
    if (loweredFrom !== null || this.#isRecent(calledAt)) return;
    setPriority(lowered);
    this.#vitals.loweredFrom = this.#normal;
    // A worker that called in between has found the normal priority.
    if (this.#vitals.calledAt === calledAt) return;
    this.#vitals.loweredFrom = null;
    raise(this.#normal);
  }

  #isRecent(time: number): boolean {
    return time !== 0 && this.#clock() - time < quiet;
  }
}

/** The process may have dropped its privileges since; a worker with a low priority is better than none. */
function raise(normal: number): void {
  try {
    setPriority(normal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_SYSTEM_ERROR')) throw error;
  }
}

function canReturnTo(nice: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const capabilities = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
    if ((BigInt(`0x${capabilities}`) >> capSysNice) & 1n) return true;
    const limit = /^Max nice priority\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? '0';
    return Number(limit) >= 20 - nice;
  } catch {
    return false;
  }
}
