import type { WebSocket } from 'ws';

/** Bytes that wait in the connection above which the config is not continued. */
const highWater = 1024 * 1024;
/** Bytes of answers that may wait: a data plane that calls and does not read is disconnected. */
const maxQueued = 16 * 1024 * 1024;
const notRead = 'it does not read what is sent to it';

export interface OutgoingOptions {
  /** Milliseconds within which the config must find room: what waits for it holds the whole config in memory. */
  readonly stall: number;
  /** The connection has to be closed. */
  readonly onFailure: (reason: string) => void;
}

/** Sends to one data plane, which never makes others wait. */
export class OutgoingMessages {
  readonly #socket: WebSocket;
  readonly #options: OutgoingOptions;
  readonly #waiting = new Set<() => void>();

  constructor(socket: WebSocket, options: OutgoingOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.once('close', () => this.#wake());
  }

  get open(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /** A text, or one in UTF-8 that is never changed. */
  send(message: string | Buffer): void {
    if (!this.open) return;
    this.#socket.send(message, { binary: false }, this.#sent);
    if (this.#socket.bufferedAmount > maxQueued) this.fail(notRead);
  }

  fail(reason: string): void {
    this.#options.onFailure(reason);
  }

  /** Resolves when there is room, or the connection is closed. Null: there is. */
  room(): Promise<void> | null {
    if (!this.open || this.#socket.bufferedAmount <= highWater) return null;
    return new Promise((resolve) => {
      const stalled = setTimeout(() => this.fail(notRead), this.#options.stall);
      this.#waiting.add(() => {
        clearTimeout(stalled);
        resolve();
      });
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
