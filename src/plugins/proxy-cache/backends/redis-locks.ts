import { randomBytes } from 'node:crypto';
import type { RedisServer } from '../../../plugin-kit/net/index.ts';
import { BoundedCache } from '../../../plugin-kit/runtime/index.ts';
import type { LockWait, LockWaitResult } from '../store/entry-store.ts';
import { acquireLockScript, lockHeldScript, releaseLockScript } from './redis-scripts.ts';

/** Milliseconds between polls of a lock that another worker or node holds: the first interval and the longest. */
const firstPollInterval = 10;
const maxPollInterval = 100;

/** Milliseconds of polling after the lease has ended by the clock of this worker: the clock of Redis may be behind. */
const leaseGrace = 100;

/** What this worker knows of a lock. */
interface Lock {
  /** Identifies the holder in Redis, if it is this worker. */
  readonly name: string;
  held: boolean;
  readonly released: Promise<void>;
  readonly release: () => void;
}

/**
 * Fetch locks for all nodes. The callers within a worker wait for the same promise; for a lock of another worker, one timer
 * polls Redis.
 */
export class RedisLocks {
  readonly #server: RedisServer;
  readonly #namesOf: (key: string) => readonly [lock: string, entry: string];
  readonly #worker = randomBytes(9).toString('base64url');
  readonly #locks = new Map<string, Lock>();
  #count = 0;

  constructor(server: RedisServer, namesOf: (key: string) => readonly [lock: string, entry: string]) {
    this.#server = server;
    this.#namesOf = namesOf;
  }

  /** Null: the caller holds the lock. Rejects if the server does not respond. */
  async acquire(key: string, lease: number, seen: SeenChecksums): Promise<LockWait | null> {
    const known = this.#locks.get(key);
    if (known !== undefined) return (milliseconds) => waitFor(known, milliseconds);
    const lock = this.#create(key);
    try {
      const args = [lock.name, Math.max(1, Math.ceil(lease)), seen.get(key)];
      const result = await this.#server.run(acquireLockScript, this.#namesOf(key), args);
      const [left, holder] = result as [number, Buffer?];
      if (left < 0) seen.delete(key);
      this.#acquired(key, lock, lease, left, holder);
    } catch (error) {
      this.#finish(key, lock);
      throw error;
    }
    return lock.held ? null : (milliseconds) => waitFor(lock, milliseconds);
  }

  release(key: string): void {
    const lock = this.#locks.get(key);
    if (lock?.held !== true) return;
    this.#finish(key, lock);
    // If Redis is unavailable, the lock ends with its lease.
    this.#server.run(releaseLockScript, this.#namesOf(key), [lock.name]).catch(() => {});
  }

  /** Ends all waits. */
  close(): void {
    for (const [key, lock] of this.#locks) this.#finish(key, lock);
  }

  #create(key: string): Lock {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#count++;
    const lock = { name: `${this.#worker}/${this.#count}`, held: false, released: promise, release: resolve };
    this.#locks.set(key, lock);
    return lock;
  }

  #acquired(key: string, lock: Lock, lease: number, left: number, holder: Buffer | undefined): void {
    if (left < 0) {
      this.#finish(key, lock);
    } else if (holder === undefined) {
      lock.held = true;
      this.#finishAfter(key, lock, lease);
    } else {
      void this.#poll(key, lock, holder, performance.now() + left);
    }
  }

  #finish(key: string, lock: Lock): void {
    if (this.#locks.get(key) === lock) this.#locks.delete(key);
    lock.release();
  }

  /** No one waits longer than the lease for a request that never releases its lock. */
  #finishAfter(key: string, lock: Lock, lease: number): void {
    const timer = setTimeout(() => this.#finish(key, lock), lease);
    timer.unref();
    void lock.released.then(() => clearTimeout(timer));
  }

  async #poll(key: string, lock: Lock, holder: Buffer, leaseEnd: number): Promise<void> {
    try {
      let interval = firstPollInterval;
      while (performance.now() < leaseEnd + leaseGrace) {
        const left = leaseEnd - performance.now();
        await sleep(left > 0 ? Math.min(interval, left) : 1);
        if (this.#locks.get(key) !== lock) return;
        if ((await this.#server.run(lockHeldScript, this.#namesOf(key), [holder])) !== 1) break;
        interval = Math.min(maxPollInterval, interval * 1.5);
      }
    } catch {
      // The callers look up the entry again, which reports that Redis is unavailable.
    } finally {
      this.#finish(key, lock);
    }
  }
}

/** Milliseconds between the lookup of an entry and the attempt to lock it, at most; seconds on a machine that is overloaded. */
const lookupTime = 10_000;

interface Seen {
  readonly checksum: Uint8Array | string;
  /** Monotonic. */
  readonly until: number;
}

/**
 * The checksums of the entries that requests of this worker have seen. Another worker may store a response between the
 * lookup and the lock: then the checksum differs, and the request looks again instead of fetching. The oldest recent
 * lookup counts: a needless second lookup costs one round trip, a needless fetch a request to the backend.
 */
export class SeenChecksums {
  readonly #seen = new BoundedCache<string, Seen>(4096);

  /** `checksum`: '' if there is no entry. */
  add(key: string, checksum: Uint8Array | string): void {
    const known = this.#seen.get(key);
    const now = performance.now();
    if (known === undefined || known.until < now) this.#seen.set(key, { checksum, until: now + lookupTime });
  }

  get(key: string): Uint8Array | string {
    return this.#seen.get(key)?.checksum ?? '';
  }

  delete(key: string): void {
    this.#seen.delete(key);
  }
}

async function waitFor({ released }: Lock, milliseconds: number): Promise<LockWaitResult> {
  const { promise, resolve } = Promise.withResolvers<LockWaitResult>();
  const timer = setTimeout(resolve, milliseconds, 'late');
  void released.then(() => resolve('done'));
  const result = await promise;
  clearTimeout(timer);
  return result;
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, milliseconds)).unref();
  });
}
