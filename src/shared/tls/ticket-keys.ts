import { randomBytes } from 'node:crypto';

/** Name, HMAC key and AES key of session tickets, in the form that Node expects. */
const keyBytes = 48;

/**
 * The keys of TLS session tickets, the same for all workers of the node, so that a client can resume with any of them.
 * They are random, are never stored, and change: a later leak does not expose what was sent under earlier keys.
 */
export class TicketKeys {
  #current: Uint8Array;
  #timer: NodeJS.Timeout | null = null;

  /** `first`: the keys of a process that this one replaces. */
  constructor(first: Uint8Array = randomBytes(keyBytes)) {
    this.#current = first;
  }

  get current(): Uint8Array {
    return this.#current;
  }

  /**
   * Creates new keys after each interval (milliseconds, at least a second), and reports them. Older tickets lead to a
   * full handshake.
   */
  rotate(interval: number, changed: (keys: Uint8Array) => void): void {
    this.#timer = setInterval(
      () => {
        this.#current = randomBytes(keyBytes);
        changed(this.#current);
      },
      Math.min(Math.max(interval, 1_000), 2 ** 31 - 1),
    ).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }
}
