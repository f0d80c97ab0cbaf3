import { randomBytes } from 'node:crypto';

/** Name, HMAC key and AES key of session tickets, as Node takes them. */
const keyBytes = 48;

/**
 * The keys under which TLS sessions are given to clients, the same for all workers of the node, so that a client can go on
 * with any of them. They are random, are never written anywhere, and change: whoever learns them later cannot read what was
 * sent under those of before.
 */
export class TicketKeys {
  #current: Uint8Array = randomBytes(keyBytes);
  #timer: NodeJS.Timeout | null = null;

  get current(): Uint8Array {
    return this.#current;
  }

  /** Makes new keys after each interval (milliseconds, at least a second), and tells of them. Tickets of before lead to a full handshake. */
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
