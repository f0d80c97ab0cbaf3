import { connect, type Socket } from 'node:net';

export interface LineConnectionOptions {
  readonly host: string;
  readonly port: number;
  /** Milliseconds until the connection is there, and again until the system has taken what is sent. */
  readonly timeout: number;
}

/** One TCP connection to a receiver of lines, opened when it is needed and kept. What it sends back is dropped. */
export class LineConnection {
  readonly #options: LineConnectionOptions;
  #socket: Socket | null = null;
  #closed = false;

  constructor(options: LineConnectionOptions) {
    this.#options = options;
  }

  /** Resolves when the system has taken it. Rejects when there is no connection, or it breaks; then the next call opens another. */
  async send(text: string, signal: AbortSignal): Promise<void> {
    const socket = await this.#connected(signal);
    await this.#within(socket, signal, 'the receiver takes nothing', (done) => socket.write(text, done));
  }

  close(): void {
    this.#closed = true;
    this.#socket?.end();
    this.#socket = null;
  }

  async #connected(signal: AbortSignal): Promise<Socket> {
    if (this.#socket !== null) return this.#socket;
    if (this.#closed) throw new Error('the connection is closed');
    const { host, port } = this.#options;
    const socket = connect({ host, port, noDelay: true, keepAlive: true });
    socket.unref();
    socket.resume();
    socket.on('error', () => {});
    socket.on('close', () => {
      if (this.#socket === socket) this.#socket = null;
    });
    // A receiver that has closed its side will read no more.
    socket.on('end', () => socket.destroy());
    await this.#within(socket, signal, 'no connection', (done) => socket.once('connect', done));
    this.#socket = socket;
    return socket;
  }

  /** Waits for `begin` to be done; a socket that fails, or takes too long, is ended. */
  #within(socket: Socket, signal: AbortSignal, what: string, begin: (done: (error?: Error | null) => void) => void) {
    const { timeout, host, port } = this.#options;
    return new Promise<void>((resolve, reject) => {
      const settle = (error?: Error | null): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', aborted);
        socket.removeListener('error', settle);
        socket.removeListener('close', closed);
        if (error == null) resolve();
        else {
          if (this.#socket === socket) this.#socket = null;
          socket.destroy();
          reject(new Error(`${host}:${port}: ${error.message}`, { cause: error }));
        }
      };
      const aborted = (): void => settle(new Error('given up'));
      const closed = (): void => settle(new Error('the connection was closed'));
      const timer = setTimeout(() => settle(new Error(`${what} within ${timeout} ms`)), timeout).unref();
      signal.addEventListener('abort', aborted, { once: true });
      socket.once('error', settle);
      socket.once('close', closed);
      begin(settle);
    });
  }
}
