import type { WebSocket } from 'ws';

/** Bytes that wait in the connection above which the config is not continued. */
const highWater = 1024 * 1024;
/** Bytes of answers that may wait: a data plane that calls and does not read is disconnected. */
const maxQueued = 16 * 1024 * 1024;

/** Sends to one data plane, which never makes others wait. */
export class OutgoingMessages {
  readonly #socket: WebSocket;
  readonly #onFailure: (reason: string) => void;
  readonly #waiting = new Set<() => void>();

  /** `onFailure`: the connection has to be closed. */
  constructor(socket: WebSocket, onFailure: (reason: string) => void) {
    this.#socket = socket;
    this.#onFailure = onFailure;
    socket.once('close', () => this.#wake());
  }

  get open(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /** A text, or one in UTF-8 that is never changed. */
  send(message: string | Buffer): void {
    if (!this.open) return;
    this.#socket.send(message, { binary: false }, this.#sent);
    if (this.#socket.bufferedAmount > maxQueued) this.fail('it does not read what is sent to it');
  }

  fail(reason: string): void {
    this.#onFailure(reason);
  }

  /** Resolves when there is room, or the connection is closed. Null: there is. */
  room(): Promise<void> | null {
    if (!this.open || this.#socket.bufferedAmount <= highWater) return null;
    return new Promise((resolve) => {
      this.#waiting.add(resolve);
    });
  }

  readonly #sent = (): void => {
    if (this.#waiting.size > 0 && this.#socket.bufferedAmount <= highWater / 2) this.#wake();
  };

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }
}
