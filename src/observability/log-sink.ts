import type { LogDevice } from './log-device.ts';
import { openDevice } from './log-device.ts';

/**
 * Takes lines and never makes its caller wait. Lines are gathered and written in the background; when the place they go to
 * is slow, full or broken, lines are dropped and counted, and the sink goes on trying.
 */
export interface LogSink {
  /** False for a log that is turned off: callers can spare themselves the line. */
  readonly enabled: boolean;
  /** Lines that could not be written. */
  readonly dropped: number;
  /** Adds one line, given without its line feed. */
  write(line: string): void;
  /** Opens the file anew, for rotation. */
  reopen(): void;
  /** Resolves when everything that was gathered by now is written or dropped. */
  flush(): Promise<void>;
  /** Writes what can be written at once, on the caller's time: for the last words of a process. */
  flushNow(): void;
  /** Flushes within `timeout` milliseconds (1000), drops the rest, and closes the file. */
  close(timeout?: number): Promise<void>;
}

export interface LogSinkOptions {
  /** Longest time that a line waits for others, in milliseconds. Default 150. */
  readonly interval?: number;
  /** Length of gathered lines at which they are written without waiting. Default 64 KiB. */
  readonly flushSize?: number;
  /** Most characters that are kept while the target does not take them. Default 4 MiB. */
  readonly capacity?: number;
}

/** `target` is an absolute path, `/dev/stdout`, `/dev/stderr` or `off`. */
export function openLogSink(target: string, options: LogSinkOptions = {}): LogSink {
  return target === 'off' ? disabledSink : new BufferedSink(target, options);
}

const disabledSink: LogSink = Object.freeze({
  enabled: false,
  dropped: 0,
  write: () => undefined,
  reopen: () => undefined,
  flush: () => Promise.resolve(),
  flushNow: () => undefined,
  close: () => Promise.resolve(),
});

const fullDelay = 50;
const reopenDelay = 1000;
const lineFeed = 10;
const nothing = Buffer.alloc(0);

class BufferedSink implements LogSink {
  readonly enabled = true;
  dropped = 0;
  #pending = '';
  #pendingLines = 0;
  /** Bytes that are being written, and how many of them are out. */
  #batch: Buffer = nothing;
  #offset = 0;
  #writing: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #device: LogDevice | null = null;
  #openedAt = Number.NEGATIVE_INFINITY;
  /** True when the last line in the file was cut, so that the next one must not continue it. */
  #torn = false;
  #closed = false;
  readonly #target: string;
  readonly #interval: number;
  readonly #flushSize: number;
  readonly #capacity: number;

  constructor(target: string, options: LogSinkOptions) {
    this.#target = target;
    this.#interval = options.interval ?? 150;
    this.#flushSize = options.flushSize ?? 64 * 1024;
    this.#capacity = options.capacity ?? 4 * 1024 * 1024;
    this.#open();
  }

  write(line: string): void {
    const kept = this.#pending.length + this.#batch.length - this.#offset;
    if (this.#closed || kept + line.length >= this.#capacity) {
      this.dropped++;
      return;
    }
    this.#pending += `${line}\n`;
    this.#pendingLines++;
    this.#schedule();
  }

  reopen(): void {
    if (this.#closed) return;
    const old = this.#device;
    this.#start();
    const last = this.#writing ?? Promise.resolve();
    this.#open();
    // The batch under way keeps the old file; the next one goes to the new one.
    if (old !== null && old !== this.#device) void last.then(() => old.close());
  }

  async flush(): Promise<void> {
    // The first round may be a batch that was under way before, the second then holds what came in since.
    for (let round = 0; round < 2; round++) {
      this.#start();
      await this.#writing;
    }
  }

  flushNow(): void {
    // A batch under way is left alone: writing it again could print it twice.
    if (this.#writing !== null || this.#pending === '') return;
    const lines = this.#pendingLines;
    const bytes = this.#takePending();
    if (this.#device?.writeNow(bytes) !== true) this.dropped += lines;
  }

  async close(timeout = 1000): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeout);
    await Promise.race([this.flush(), late]);
    clearTimeout(timer);
    this.#dropRest();
    this.dropped += this.#pendingLines;
    this.#takePending();
    this.#device?.close();
    this.#device = null;
  }

  #schedule(): void {
    if (this.#writing !== null) return;
    if (this.#pending.length >= this.#flushSize) this.#start();
    else this.#timer ??= setTimeout(() => this.#start(), this.#interval).unref();
  }

  #start(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#writing !== null || this.#pending === '') return;
    if (this.#device === null && performance.now() - this.#openedAt > reopenDelay) this.#open();
    this.#batch = this.#takePending();
    this.#offset = 0;
    this.#writing = this.#drain(this.#device).then(() => {
      this.#writing = null;
      if (this.#pending !== '') this.#schedule();
    });
  }

  async #drain(device: LogDevice | null): Promise<void> {
    while (this.#offset < this.#batch.length) {
      const written = device === null ? -1 : await device.write(this.#batch, this.#offset);
      if (written < 0) return this.#dropRest();
      this.#offset += written;
      if (written === 0) await pause(fullDelay);
    }
    this.#torn = false;
    this.#batch = nothing;
    this.#offset = 0;
  }

  /** Gives up what is left of the batch under way. */
  #dropRest(): void {
    this.#torn ||= this.#offset > 0 && this.#batch[this.#offset - 1] !== lineFeed;
    for (let index = this.#offset; index < this.#batch.length; index++) {
      if (this.#batch[index] === lineFeed) this.dropped++;
    }
    this.#batch = nothing;
    this.#offset = 0;
  }

  #takePending(): Buffer {
    const bytes = Buffer.from(this.#torn ? `\n${this.#pending}` : this.#pending);
    this.#pending = '';
    this.#pendingLines = 0;
    return bytes;
  }

  #open(): void {
    this.#openedAt = performance.now();
    this.#torn = false;
    try {
      this.#device = openDevice(this.#target);
    } catch {
      // Tried again when there is something to write.
      this.#device = null;
    }
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref();
  });
}
