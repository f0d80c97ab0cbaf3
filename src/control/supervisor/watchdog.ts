import type { NodeVitals } from '../../shared/zones/worker-vitals.ts';
import { suspectAfter } from './readiness.ts';

export interface WatchedWorker {
  readonly number: number;
  /** It listens. */
  readonly ready: boolean;
}

export interface WatchdogOptions<W extends WatchedWorker> {
  readonly vitals: NodeVitals;
  /** The clock that all threads share (`sharedClock`). */
  readonly clock: () => number;
  /** Milliseconds without a heartbeat after which a listening worker counts as stuck; 0: never. */
  readonly timeout: number;
  readonly workers: () => readonly W[];
  /** The worker has had no heartbeat for so long that nothing should wait for it. */
  readonly suspected: (worker: W) => void;
  /** Bytes of heap at which a worker is ended at once. */
  readonly heapCeiling: number;
  /** Reads the heap usage, in bytes, of a thread that may be in a loop; has a timeout. */
  readonly readHeap: (worker: W) => Promise<number>;
  readonly heapFull: (worker: W, used: number) => void;
  /** Called once for a worker, with the milliseconds since its last heartbeat. */
  readonly stuck: (worker: W, silence: number) => void;
}

/** Milliseconds between two checks. */
const interval = 250;
/** Maximum that one late check adds to the time without a heartbeat: the whole process may have been suspended. */
const maxStepTime = 500;
/** Milliseconds that a worker may take to load its code and build its config. */
const startTimeout = 60_000;

interface Silence {
  beat: number;
  duration: number;
  /** The instance whose `setup` the worker is in, and for how long. */
  settingUp: number;
  setupDuration: number;
  reported: boolean;
  readingHeap: boolean;
}

/** Notices workers whose event loop is blocked. Reads shared memory only: a stuck worker would not answer a message. */
export class Watchdog<W extends WatchedWorker> {
  readonly #options: WatchdogOptions<W>;
  readonly #silences = new WeakMap<W, Silence>();
  readonly #timer: NodeJS.Timeout;
  #last: number;

  constructor(options: WatchdogOptions<W>) {
    this.#options = options;
    this.#last = options.clock();
    this.#timer = setInterval(() => this.#check(), interval).unref();
  }

  /** False: no heartbeat for some seconds, so there is no point in waiting for the worker. */
  isResponsive(worker: W): boolean {
    const silence = this.#silences.get(worker);
    if (silence === undefined || silence.duration < suspectAfter) return true;
    // It may have recovered since the last check: then a write that does not wait for it would be answered too early.
    return this.#options.vitals.beat(worker.number) !== silence.beat;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const { vitals, clock, workers } = this.#options;
    const now = clock();
    const step = Math.min(maxStepTime, now - this.#last);
    this.#last = now;
    vitals.controlPlaneBeat = now;
    for (const worker of workers()) this.#checkWorker(worker, vitals.beat(worker.number), step);
  }

  #checkWorker(worker: W, beat: number, step: number): void {
    const silence = this.#silences.get(worker) ?? {
      beat,
      duration: 0,
      settingUp: 0,
      setupDuration: 0,
      reported: false,
      readingHeap: false,
    };
    this.#silences.set(worker, silence);
    if (silence.beat !== beat) {
      silence.beat = beat;
      silence.duration = 0;
      silence.setupDuration = 0;
      this.#checkHeap(worker, this.#options.vitals.heapUsed(worker.number));
      return;
    }
    void this.#readHeap(worker, silence);
    const before = silence.duration;
    silence.duration += step;
    const { timeout, suspected, stuck } = this.#options;
    if (before < suspectAfter && silence.duration >= suspectAfter) suspected(worker);
    this.#followSetup(silence, worker, step);
    const limit = worker.ready || silence.setupDuration >= timeout ? timeout : Math.max(timeout, startTimeout);
    if (timeout === 0 || silence.duration < limit || silence.reported) return;
    silence.reported = true;
    stuck(worker, silence.duration);
  }

  /** A loop can fill the heap before it counts as stuck, and a full heap would end the process. */
  async #readHeap(worker: W, silence: Silence): Promise<void> {
    if (silence.readingHeap) return;
    silence.readingHeap = true;
    this.#checkHeap(worker, await this.#options.readHeap(worker));
    silence.readingHeap = false;
  }

  #checkHeap(worker: W, used: number): void {
    if (used > this.#options.heapCeiling) this.#options.heapFull(worker, used);
  }

  /** A worker that builds a large config runs many setups one after the other; a stuck one stays in the same setup. */
  #followSetup(silence: Silence, { number }: W, step: number): void {
    const { phase, instance } = this.#options.vitals.pluginCall(number);
    const settingUp = phase === 'setup' ? instance : 0;
    silence.setupDuration = settingUp !== 0 && settingUp === silence.settingUp ? silence.setupDuration + step : 0;
    silence.settingUp = settingUp;
  }
}
