import { BoundedCache } from '../../plugin-sdk/index.ts';
import type { AnswerStore, FlightEnd } from './answer-store.ts';
import type { Soon } from './soon.ts';

export type Wait = (milliseconds: number) => Promise<FlightEnd>;

/** Requests for the same thing: one of them goes to the backend for all. */
export class Flights {
  readonly #store: AnswerStore;
  readonly #lease: number;
  /** Until when (monotonic) what is at a key is fetched by each on its own. */
  readonly #alone = new BoundedCache<string, number>(2048);

  /** `lease`: milliseconds after which one that leads is taken for dead. */
  constructor(store: AnswerStore, lease: number) {
    this.#store = store;
    this.#lease = lease;
  }

  /** Null: the caller leads. */
  board(key: string): Soon<Wait | null> {
    return this.#store.board(key, this.#lease);
  }

  land(key: string): void {
    this.#store.land(key);
  }

  /** For some milliseconds nobody of this worker waits for the key. */
  separate(key: string, span: number): void {
    this.#alone.set(key, performance.now() + span);
  }

  isSeparate(key: string): boolean {
    const until = this.#alone.get(key);
    return until !== undefined && performance.now() < until;
  }
}
