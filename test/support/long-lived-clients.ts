import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';

/** A client with one long-lived connection, for `Clients.add`. It opens another one when the gateway has ended the connection cleanly. */
export interface LongLivedClient {
  /** A message and its echo, or an event. Rejects when the connection did not end cleanly. */
  readonly step: () => Promise<void>;
  readonly close: () => void;
  /** How often the connection ended cleanly. */
  readonly endings: () => number;
}

/** Going away, or a service that restarts (RFC 6455 7.4.1). */
const cleanCodes: ReadonlySet<number> = new Set([1001, 1012]);
const timeout = 5_000;

/** What has happened on a connection, also between two steps. */
class Happenings {
  messages = 0;
  endings = 0;
  #failure: Error | null = null;
  #wake: () => void = () => {};

  message(): void {
    this.messages++;
    this.#wake();
  }

  ended(): void {
    this.endings++;
    this.#wake();
  }

  failed(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }

  /** Resolves at a message or an end that came after the counts were read. */
  async after(messages: number, endings: number): Promise<void> {
    const timer = setTimeout(() => this.failed(new Error(`nothing within ${timeout} ms`)), timeout);
    while (this.messages === messages && this.endings === endings && this.#failure === null) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
    clearTimeout(timer);
    const failure = this.#failure;
    this.#failure = null;
    if (failure !== null) throw failure;
  }
}

/** A WebSocket to an echo. */
export function webSocketClient(url: string): LongLivedClient {
  const happened = new Happenings();
  let socket: WebSocket | null = null;
  const open = (): WebSocket => {
    const opened = new WebSocket(url, { handshakeTimeout: timeout });
    opened.on('error', (error) => happened.failed(error));
    opened.on('message', () => happened.message());
    opened.on('close', (code) => {
      if (socket === opened) socket = null;
      if (cleanCodes.has(code)) happened.ended();
      else happened.failed(new Error(`closed with ${code}`));
    });
    opened.on('open', () => opened.send('hello'));
    return opened;
  };
  return {
    endings: () => happened.endings,
    close: () =>
      socket
        ?.removeAllListeners()
        .on('error', () => {})
        .terminate(),
    async step() {
      const { messages, endings } = happened;
      if (socket === null) socket = open();
      else if (socket.readyState === WebSocket.OPEN) socket.send('hello');
      await happened.after(messages, endings);
    },
  };
}

/** An event stream. */
export function eventStreamClient(url: string): LongLivedClient {
  const happened = new Happenings();
  let stream: IncomingMessage | null = null;
  const open = async (): Promise<IncomingMessage> => {
    const sent = get(url, { agent: false });
    const [response] = (await once(sent, 'response', { signal: AbortSignal.timeout(timeout) })) as [IncomingMessage];
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
    response.on('data', () => happened.message());
    response.on('error', (error) => happened.failed(error));
    response.on('end', () => response.complete && happened.ended());
    response.on('close', () => {
      stream = null;
    });
    return response;
  };
  return {
    endings: () => happened.endings,
    close: () =>
      stream
        ?.removeAllListeners()
        .on('error', () => {})
        .destroy(),
    async step() {
      const { messages, endings } = happened;
      stream ??= await open();
      await happened.after(messages, endings);
    },
  };
}
