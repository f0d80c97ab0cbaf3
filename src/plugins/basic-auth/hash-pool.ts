import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';

/** `busy`: too many checks wait already, this one has waited for too long, or its thread has died. */
export type CheckResult = boolean | 'busy';

interface Job {
  readonly password: Uint8Array;
  readonly hash: string;
  readonly client: string;
  readonly done: (result: CheckResult) => void;
  readonly deadline: number;
}

export interface HashPoolOptions {
  /** Default 2. */
  readonly threads?: number;
  /** Checks that wait at most, those that run included. Default 256. */
  readonly mostJobs?: number;
  /** Of these for one client. Default: half of them. */
  readonly mostPerClient?: number;
  /** How long a check may wait for a thread, in milliseconds. Default 10 s. */
  readonly longestWait?: number;
  /** A thread that has nothing to do ends after this many milliseconds. Default 60 s. */
  readonly idleAfter?: number;
}

const entry = new URL(import.meta.url.endsWith('.ts') ? './hash-thread.ts' : './hash-thread.js', import.meta.url);

/** Code that the gateway has compiled before need not be compiled again: that takes half of a thread's start. */
function bootstrap(): string {
  const cache = getCompileCacheDir();
  // What is told is the folder of this version of Node within the one that is to be named.
  const folder = cache === undefined ? null : JSON.stringify(dirname(cache));
  const enable = folder === null ? '' : `process.getBuiltinModule('node:module').enableCompileCache(${folder});`;
  return `${enable}import(${JSON.stringify(entry.href)});`;
}

/**
 * Checks passwords against costly hashes in threads of their own, which are started when they are first needed. What
 * waits is bounded, for each client too, so that one that guesses passwords cannot keep all others out.
 */
export class HashPool {
  readonly #options: Required<HashPoolOptions>;
  readonly #waiting: Job[] = [];
  readonly #perClient = new Map<string, number>();
  readonly #idle: HashThread[] = [];
  readonly #threads = new Set<HashThread>();
  #jobs = 0;
  #closed = false;

  constructor(options: HashPoolOptions = {}) {
    const { threads = 2, mostJobs = 256, longestWait = 10_000, idleAfter = 60_000 } = options;
    const { mostPerClient = mostJobs >> 1 } = options;
    this.#options = { threads, mostJobs, mostPerClient, longestWait, idleAfter };
  }

  /** Threads that run or rest. */
  get threads(): number {
    return this.#threads.size;
  }

  /** Never rejects. `client`: whose share of the queue it takes. */
  check(password: Uint8Array, hash: string, client: string): Promise<CheckResult> {
    const ofClient = this.#perClient.get(client) ?? 0;
    const { mostJobs, mostPerClient, longestWait } = this.#options;
    if (this.#closed || this.#jobs >= mostJobs || ofClient >= mostPerClient) return Promise.resolve('busy');
    this.#jobs++;
    this.#perClient.set(client, ofClient + 1);
    return new Promise((resolve) => {
      const deadline = performance.now() + longestWait;
      this.#waiting.push({ password, hash, client, deadline, done: (result) => this.#finish(client, result, resolve) });
      this.#next();
    });
  }

  close(): void {
    this.#closed = true;
    for (const job of this.#waiting.splice(0)) job.done('busy');
    for (const thread of this.#threads) thread.end();
  }

  #finish(client: string, result: CheckResult, resolve: (result: CheckResult) => void): void {
    this.#jobs--;
    const left = (this.#perClient.get(client) ?? 1) - 1;
    if (left === 0) this.#perClient.delete(client);
    else this.#perClient.set(client, left);
    resolve(result);
  }

  #next(): void {
    while (this.#waiting.length > 0) {
      const thread = this.#idle.pop() ?? this.#start();
      if (thread === null) return;
      const job = this.#due();
      if (job === undefined) this.#rest(thread);
      else thread.run(job);
    }
  }

  /** The next check that has not waited for too long. */
  #due(): Job | undefined {
    for (;;) {
      const job = this.#waiting.shift();
      if (job === undefined || job.deadline > performance.now()) return job;
      job.done('busy');
    }
  }

  #start(): HashThread | null {
    if (this.#threads.size >= this.#options.threads) return null;
    const thread = new HashThread(
      () => {
        this.#rest(thread);
        this.#next();
      },
      () => {
        this.#forget(thread);
        if (!this.#closed) this.#next();
      },
    );
    this.#threads.add(thread);
    return thread;
  }

  #rest(thread: HashThread): void {
    this.#idle.push(thread);
    thread.restFor(this.#options.idleAfter, () => this.#forget(thread));
  }

  /** It takes no checks any more. */
  #forget(thread: HashThread): void {
    this.#threads.delete(thread);
    const at = this.#idle.indexOf(thread);
    if (at >= 0) this.#idle.splice(at, 1);
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
      this.#answer(matches);
      free();
    });
    // What it dies of is no fault of the password.
    this.#thread.on('error', () => this.#answer('busy'));
    this.#thread.on('exit', () => {
      this.#answer('busy');
      ended();
    });
  }

  run(job: Job): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#job = job;
    const { password, hash } = job;
    this.#thread.postMessage({ password, hash });
  }

  /** Ends when it has had nothing to do for so long; `ending` is told before. */
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
