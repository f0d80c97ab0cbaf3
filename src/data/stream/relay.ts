import { monotonic } from '../../shared/util/time/clock.ts';
import { Deadline } from '../../shared/util/time/deadlines.ts';
import { RelaySide } from './relay-side.ts';

/** Milliseconds; 0: no limit. */
export interface RelayTimeouts {
  /** Maximum time without a byte from either side. */
  readonly idle: number;
  /** Maximum time that a side may take to accept what was written to it. */
  readonly send: number;
}

/**
 * Carries bytes both ways between two connections until both are closed. A side that does not read pauses the other; a
 * side that has ended sending ends the other's; one that breaks breaks the other.
 */
export class Relay {
  readonly client: RelaySide;
  readonly backend: RelaySide;
  readonly #idle: Deadline;

  /** `done` is called once, when both sides are closed. */
  constructor({ idle, send }: RelayTimeouts, done: () => void) {
    const touched = (): void => this.#idle.set(idle, monotonic());
    const closed = (): void => {
      if (this.client.open || this.backend.open) return;
      this.#idle.clear();
      done();
    };
    this.client = new RelaySide(send, touched, closed);
    this.backend = new RelaySide(send, touched, closed);
    this.client.partner = this.backend;
    this.backend.partner = this.client;
    this.#idle = new Deadline(() => this.destroy());
    touched();
  }

  /** Closes both sides. */
  destroy(): void {
    this.client.socket?.destroy();
    this.backend.socket?.destroy();
  }
}
