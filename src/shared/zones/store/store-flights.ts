import type { FlightWait } from '../../../plugin-sdk/shared-store.ts';
import type { KeyHash } from '../key-hash.ts';
import { Flight, flightWays, flightWords, Header } from './store-layout.ts';
import { StoreLock } from './store-lock.ts';
import type { StoreMemory } from './store-memory.ts';

/**
 * Milliseconds that a caller waits for the lock before it leads without registering: as long as a thread that holds it
 * may be preempted. After a timeout the holder may have ended, and for a while the wait is shorter.
 */
const lockTimeout = 25;
const pause = 50;
const shortLockTimeout = 1;
/** Maximum difference of the clocks of two threads, in milliseconds. */
const clockMargin = 1;

/**
 * Coalesces concurrent fetches over all workers: the first caller of a flight leads, and later ones wait without
 * blocking until it has finished. Where there is no room for a flight, all its callers lead.
 */
export class StoreFlights {
  readonly #memory: StoreMemory;
  readonly #hash: KeyHash;
  readonly #thread: number;
  readonly #lock: StoreLock;
  readonly #clock: () => number;
  /** Of the flight that `#find` returned. */
  #generation = 0;
  #pausedUntil = 0;

  constructor(memory: StoreMemory, hash: KeyHash, thread: number, clock: () => number) {
    this.#memory = memory;
    this.#hash = hash;
    this.#thread = thread;
    this.#lock = new StoreLock(memory.words, Header.flightLock, thread);
    this.#clock = clock;
  }

  board(key: string, lease: number): FlightWait | null {
    const bucket = this.#bucketOf(key);
    const now = this.#clock();
    if (!this.#take()) return null;
    const flight = this.#find(bucket);
    const generation = this.#generation;
    const isFlying = flight >= 0 && this.#leaseEnd(flight) > now;
    const place = isFlying ? -1 : flight >= 0 ? flight : this.#room(bucket, now);
    if (place >= 0) this.#lead(place, now + lease);
    this.#lock.open();
    return isFlying ? (wait) => this.#wait(flight, generation, wait) : null;
  }

  land(key: string): void {
    const { words } = this.#memory;
    const flight = this.#find(this.#bucketOf(key));
    if (flight < 0) return;
    const generation = this.#generation;
    // Another caller may lead by now.
    if (words[flight + Flight.leader] !== this.#thread) return;
    if (Atomics.compareExchange(words, flight, generation, generation + 1) === generation)
      Atomics.notify(words, flight);
  }

  #take(): boolean {
    const now = performance.now();
    if (this.#lock.take(now < this.#pausedUntil ? shortLockTimeout : lockTimeout)) return true;
    this.#pausedUntil = performance.now() + pause;
    return false;
  }

  #bucketOf(key: string): number {
    const { geometry } = this.#memory;
    this.#hash.hash(key);
    return geometry.flights + (this.#hash.low % geometry.flightBuckets) * flightWays * flightWords;
  }

  /** The active flight for the key, or -1. */
  #find(bucket: number): number {
    const { words } = this.#memory;
    for (let at = bucket; at < bucket + flightWays * flightWords; at += flightWords) {
      this.#generation = Atomics.load(words, at);
      if ((this.#generation & 1) === 0) continue;
      if (words[at + Flight.low] === (this.#hash.low | 0) && words[at + Flight.high] === (this.#hash.high | 0))
        return at;
    }
    return -1;
  }

  /** A slot that is free, or whose leader is not trusted any more. */
  #room(bucket: number, now: number): number {
    const { words } = this.#memory;
    for (let at = bucket; at < bucket + flightWays * flightWords; at += flightWords) {
      if ((Atomics.load(words, at) & 1) === 0 || this.#leaseEnd(at) <= now) return at;
    }
    return -1;
  }

  #lead(at: number, leaseEnd: number): void {
    const { words, doubles } = this.#memory;
    const generation = Atomics.load(words, at);
    // A slot that is half written must not look like a flight.
    if ((generation & 1) === 1) Atomics.store(words, at, generation + 1);
    words[at + Flight.low] = this.#hash.low | 0;
    words[at + Flight.high] = this.#hash.high | 0;
    words[at + Flight.leader] = this.#thread;
    doubles[(at + Flight.leaseEnd) >> 1] = leaseEnd;
    Atomics.store(words, at, (generation | 1) + (generation & 1) * 2);
    if ((generation & 1) === 1) Atomics.notify(words, at);
  }

  #leaseEnd(at: number): number {
    return this.#memory.doubles[(at + Flight.leaseEnd) >> 1]!;
  }

  async #wait(flight: number, generation: number, milliseconds: number): Promise<'done' | 'late'> {
    const { words } = this.#memory;
    const lease = this.#leaseEnd(flight) - this.#clock();
    const inTime = lease <= milliseconds;
    // Past the end of the lease: a notified caller leads, though clocks and timers of threads differ a little.
    let left = inTime ? lease + clockMargin : milliseconds;
    while (left > 0 && Atomics.load(words, flight) === generation) {
      const outcome = Atomics.waitAsync(words, flight, generation, left);
      if ((outcome.async ? await outcome.value : outcome.value) !== 'timed-out') return 'done';
      left = inTime ? this.#leaseEnd(flight) + clockMargin - this.#clock() : 0;
    }
    if (Atomics.load(words, flight) !== generation) return 'done';
    return inTime ? 'done' : 'late';
  }
}
