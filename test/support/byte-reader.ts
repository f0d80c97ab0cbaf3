import type { Socket } from 'node:net';

/** How a connection ended: with a FIN, or with an error (reset). */
export type EndKind = 'end' | 'reset';

/** The other side closed before the expected bytes arrived. */
export class EndedEarly extends Error {
  readonly kind: EndKind;
  readonly received: string;

  constructor(kind: EndKind, received: string) {
    super(`connection ended (${kind}) after ${JSON.stringify(received.slice(0, 400))}`);
    this.kind = kind;
    this.received = received;
  }
}

const defaultWait = 8_000;

/** Reads a socket as a queue of latin1 characters. Every wait has a deadline, so that a hanging test reports what it has received. */
export class ByteReader {
  readonly #socket: Socket;
  #text = '';
  #all = '';
  #ended: EndKind | null = null;
  #wake: (() => void) | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      const text = chunk.toString('latin1');
      this.#text += text;
      this.#all += text;
      this.#notify();
    });
    socket.on('end', () => this.#finish('end'));
    socket.on('error', () => this.#finish('reset'));
    socket.on('close', (hadError: boolean) => this.#finish(hadError ? 'reset' : 'end'));
  }

  /** All bytes received so far. */
  get received(): string {
    return this.#all;
  }

  /** Received and not yet read. */
  get pending(): string {
    return this.#text;
  }

  get ended(): EndKind | null {
    return this.#ended;
  }

  /** Reads up to and including `marker`. */
  async readUntil(marker: string, wait = defaultWait): Promise<string> {
    let from = 0;
    for (;;) {
      const at = this.#text.indexOf(marker, from);
      if (at >= 0) return this.#take(at + marker.length);
      from = Math.max(0, this.#text.length - marker.length + 1);
      await this.#more(wait, `${JSON.stringify(marker)}`);
    }
  }

  async readExactly(length: number, wait = defaultWait): Promise<string> {
    while (this.#text.length < length) await this.#more(wait, `${length} bytes`);
    return this.#take(length);
  }

  /** Reads at least one byte, and all that is buffered. */
  async readSome(wait = defaultWait): Promise<string> {
    while (this.#text.length === 0) await this.#more(wait, 'any byte');
    return this.#take(this.#text.length);
  }

  /** Reads until the other side closes; does not fail on a reset. */
  async readToEnd(wait = defaultWait): Promise<{ readonly text: string; readonly kind: EndKind }> {
    while (this.#ended === null) await this.#wait(wait, 'the end of the connection');
    return { text: this.#take(this.#text.length), kind: this.#ended };
  }

  /** Stops and resumes reading, as a slow reader does. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  async #more(wait: number, wanted: string): Promise<void> {
    if (this.#ended !== null) throw new EndedEarly(this.#ended, this.#text);
    await this.#wait(wait, wanted);
  }

  async #wait(wait: number, wanted: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#wake = null;
        reject(new Error(`waited ${wait} ms for ${wanted}; had ${JSON.stringify(this.#text.slice(0, 400))}`));
      }, wait);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #take(length: number): string {
    const text = this.#text.slice(0, length);
    this.#text = this.#text.slice(length);
    return text;
  }

  #finish(kind: EndKind): void {
    this.#ended ??= kind;
    this.#notify();
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }
}
