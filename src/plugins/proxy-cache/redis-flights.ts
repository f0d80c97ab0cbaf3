import { randomBytes } from 'node:crypto';
import type { RedisServer } from '../../plugin-sdk/index.ts';
import type { FlightEnd } from './answer-store.ts';
import type { LastLooks } from './last-looks.ts';
import { boardScript, flyingScript, landScript } from './redis-scripts.ts';

export type FlightWait = (wait: number) => Promise<FlightEnd>;

/** Milliseconds between looks at a flight that another worker or node leads: the first pause and the longest. */
const firstLook = 10;
const longestLook = 100;

/** Milliseconds within which a lease that is over by this worker's clock must be over by that of Redis. */
const grace = 100;

/** What this worker knows of a flight. */
interface Flight {
  /** Names this flight in Redis, if this worker leads. */
  readonly name: string;
  leads: boolean;
  readonly over: Promise<void>;
  readonly end: () => void;
}

/**
 * Who is fetching what, over all nodes. Within a worker the callers wait for each other; for other workers' flights one of
 * them looks into Redis from time to time.
 */
export class RedisFlights {
  readonly #server: RedisServer;
  readonly #namesOf: (key: string) => readonly [flight: string, entry: string];
  readonly #worker = randomBytes(9).toString('base64url');
  readonly #flights = new Map<string, Flight>();
  #count = 0;

  constructor(server: RedisServer, namesOf: (key: string) => readonly [flight: string, entry: string]) {
    this.#server = server;
    this.#namesOf = namesOf;
  }

  /** Rejects when the server does not answer. */
  async board(key: string, lease: number, looks: LastLooks): Promise<FlightWait | null> {
    const known = this.#flights.get(key);
    if (known !== undefined) return (wait) => ended(known, wait);
    const flight = this.#begin(key);
    try {
      const args = [flight.name, Math.max(1, Math.ceil(lease)), looks.seen(key)];
      const answer = await this.#server.run(boardScript, this.#namesOf(key), args);
      const [left, leader] = answer as [number, Buffer?];
      if (left < 0) looks.forget(key);
      this.#boarded(key, flight, lease, left, leader);
    } catch (error) {
      this.#finish(key, flight);
      throw error;
    }
    return flight.leads ? null : (wait) => ended(flight, wait);
  }

  land(key: string): void {
    const flight = this.#flights.get(key);
    if (flight?.leads !== true) return;
    this.#finish(key, flight);
    // When Redis is away, its flights are over with their lease.
    this.#server.run(landScript, this.#namesOf(key), [flight.name]).catch(() => {});
  }

  /** Nobody waits any longer. */
  close(): void {
    for (const [key, flight] of this.#flights) this.#finish(key, flight);
  }

  #begin(key: string): Flight {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#count++;
    const flight = { name: `${this.#worker}/${this.#count}`, leads: false, over: promise, end: resolve };
    this.#flights.set(key, flight);
    return flight;
  }

  #boarded(key: string, flight: Flight, lease: number, left: number, leader: Buffer | undefined): void {
    if (left < 0) {
      this.#finish(key, flight);
    } else if (leader === undefined) {
      flight.leads = true;
      this.#trust(key, flight, lease);
    } else {
      void this.#watch(key, flight, leader, performance.now() + left);
    }
  }

  #finish(key: string, flight: Flight): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
    flight.end();
  }

  /** A request that leads and never lands is not waited for beyond its lease. */
  #trust(key: string, flight: Flight, lease: number): void {
    const timer = setTimeout(() => this.#finish(key, flight), lease);
    timer.unref();
    void flight.over.then(() => clearTimeout(timer));
  }

  async #watch(key: string, flight: Flight, leader: Buffer, leaseEnd: number): Promise<void> {
    try {
      for (let pause = firstLook; performance.now() < leaseEnd + grace; pause = Math.min(longestLook, pause * 1.5)) {
        const left = leaseEnd - performance.now();
        await sleep(left > 0 ? Math.min(pause, left) : 1);
        if (this.#flights.get(key) !== flight) return;
        if ((await this.#server.run(flyingScript, this.#namesOf(key), [leader])) !== 1) break;
      }
    } catch {
      // The callers look again, and are told then that Redis is away.
    } finally {
      this.#finish(key, flight);
    }
  }
}

async function ended({ over }: Flight, wait: number): Promise<FlightEnd> {
  const { promise, resolve } = Promise.withResolvers<FlightEnd>();
  const timer = setTimeout(resolve, wait, 'late');
  void over.then(() => resolve('done'));
  const end = await promise;
  clearTimeout(timer);
  return end;
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, milliseconds)).unref();
  });
}
