import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { FairQueue, mayStartThreads, overloaded } from '../../plugin-kit/runtime/index.ts';

/** `busy`: too many checks wait, this one waited too long, or its thread died. */
export type CheckResult = boolean | 'busy';

interface Job {
  readonly password: Uint8Array;
  readonly hash: string;
  readonly done: (result: CheckResult) => void;
}

export interface HashPoolOptions {
  /** Default 2. */
  readonly threads?: number;
  /** Maximum queued checks. Default 256. */
  readonly maxWaiting?: number;
  /** Maximum queued checks of one client. Default: half. */
  readonly maxWaitingPerClient?: number;
  /** Milliseconds that a check may wait for a thread. Default 10 s. */
  readonly maxWait?: number;
  /** An idle thread ends after this many milliseconds. Default 60 s. */
  readonly idleAfter?: number;
}

const entry = new URL('./hash-thread.ts', import.meta.url);

/** Compile cache of the gateway: compilation takes half of a thread's start. */
function bootstrap(): string {
  const cache = getCompileCacheDir();
  // `getCompileCacheDir` returns the subfolder of this Node version; the setting names its parent.
  const folder = cache === undefined ? null : JSON.stringify(dirname(cache));
  const enable = folder === null ? '' : `process.getBuiltinModule('node:module').enableCompileCache(${folder});`;
  return `${enable}import(${JSON.stringify(entry.href)});`;
}

/**
 * Checks passwords against costly hashes in separate threads, which start on demand. Clients are scheduled fairly: one that
 * guesses passwords delays another client by at most two checks.
 */
export class HashPool {
  readonly #queue: FairQueue;
  readonly #idleAfter: number;
  readonly #idle: HashThread[] = [];
  readonly #threads = new Set<HashThread>();

  constructor(options: HashPoolOptions = {}) {
    const { threads = 2, maxWaiting = 256, maxWait = 10_000, idleAfter = 60_000 } = options;
    const { maxWaitingPerClient: maxWaitingPerGroup = maxWaiting >> 1 } = options;
    this.#queue = new FairQueue({ concurrency: threads, maxWaiting, maxWaitingPerGroup, maxWait });
    this.#idleAfter = idleAfter;
  }

  /** All threads, busy or idle. */
  get threads(): number {
    return this.#threads.size;
  }

  /** Never rejects. `client`: its group, see `clientGroup`. */
  async check(password: Uint8Array, hash: string, client: string): Promise<CheckResult> {
    const result = await this.#queue.run(client, () =>
      mayStartThreads() ? this.#checkInThread(password, hash) : checkHere(password, hash),
    );
    return result === overloaded ? 'busy' : result;
  }

  close(): void {
    this.#queue.close();
    for (const thread of this.#threads) thread.end();
  }

  #checkInThread(password: Uint8Array, hash: string): Promise<CheckResult> {
    const thread = this.#idle.pop() ?? this.#start();
    return new Promise((done) => thread.run({ password, hash, done }));
  }

  #start(): HashThread {
    const thread = new HashThread(
      () => this.#rest(thread),
      () => this.#discard(thread),
    );
    this.#threads.add(thread);
    return thread;
  }

  #rest(thread: HashThread): void {
    this.#idle.push(thread);
    thread.restFor(this.#idleAfter, () => this.#discard(thread));
  }

  /** Assigns it no more checks. */
  #discard(thread: HashThread): void {
    this.#threads.delete(thread);
    const at = this.#idle.indexOf(thread);
    if (at >= 0) this.#idle.splice(at, 1);
  }
}

/** Blocks this thread for as long as the hash demands, one check in each turn of the event loop. */
async function checkHere(password: Uint8Array, hash: string): Promise<boolean> {
  const { matchesSlowly } = await import('./check-password.ts');
  await nextTurn();
  try {
    return matchesSlowly(password, hash);
  } finally {
    password.fill(0);
  }
}

class HashThread {
  readonly #thread: Worker;
  #job: Job | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(free: () => void, ended: () => void) {
    this.#thread = new Worker(bootstrap(), { eval: true, name: 'sluicegate-passwords', env: {} });
    this.#thread.unref();
    this.#thread.on('message', (matches: boolean) => {
      free();
      this.#answer(matches);
    });
    // The crash of a thread says nothing about the password.
    this.#thread.on('error', () => {
      ended();
      this.#answer('busy');
    });
    this.#thread.on('exit', () => {
      ended();
      this.#answer('busy');
    });
  }

  run(job: Job): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#job = job;
    const { password, hash } = job;
    this.#thread.postMessage({ password, hash });
  }

  /** Ends after the idle time; `ending` is called before. */
  restFor(milliseconds: number, ending: () => void): void {
    this.#timer = setTimeout(() => {
      ending();
      this.end();
    }, milliseconds);
    this.#timer.unref();
  }

  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    void this.#thread.terminate();
  }

  #answer(result: CheckResult): void {
    const job = this.#job;
    this.#job = null;
    job?.done(result);
  }
}

let shared: { readonly pool: HashPool; users: number } | null = null;

/** The pool that all instances of this worker share. Each call is undone by one of `releaseHashPool`. */
export function takeHashPool(): HashPool {
  shared ??= { pool: new HashPool(), users: 0 };
  shared.users++;
  return shared.pool;
}

/** The threads end with the last user. */
export function releaseHashPool(): void {
  if (shared === null || --shared.users > 0) return;
  shared.pool.close();
  shared = null;
}
