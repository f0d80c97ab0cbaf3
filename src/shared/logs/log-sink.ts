import { LineBuffer } from './line-buffer.ts';
import type { DeviceOptions, LogDevice } from './log-device.ts';
import { openDevice } from './log-device.ts';

/**
 * Accepts lines and never blocks its caller. Lines are buffered and written in the background. When the target is slow,
 * full or broken, lines are dropped and counted, and the sink keeps trying.
 */
export interface LogSink {
  /** False for a log that is turned off: callers need not build the line. */
  readonly enabled: boolean;
  /** Lines that could not be written. */
  readonly dropped: number;
  /** Adds one line, given without its line feed. */
  write(line: string): void;
  /** Reopens the file, for rotation. */
  reopen(): void;
  /** Resolves when all buffered lines are written or dropped. */
  flush(): Promise<void>;
  /** Writes what can be written synchronously: for the last lines of a process. */
  flushNow(): void;
  /** Flushes within `timeout` milliseconds (1000), drops the rest, and closes the file. */
  close(timeout?: number): Promise<void>;
}

export interface LogSinkOptions extends DeviceOptions {
  /** Maximum time that a line waits for others, in milliseconds. Default 150. */
  readonly interval?: number;
  /** Size of buffered lines at which they are written without waiting. Default 256 KiB. */
  readonly flushSize?: number;
  /** Maximum bytes that are buffered while the target does not accept them. Default 4 MiB. */
  readonly capacity?: number;
  /**
   * Before a write, checks in the background whether the file was moved or removed, and continues in a new one. Default
   * false.
   */
  readonly followsMoves?: boolean;
  /** Lines have one character for each byte; else they are strings, written as UTF-8. Default false. */
  readonly bytes?: boolean;
  /** Called with the number of lost lines, and the reason. Must not throw. */
  readonly lost?: (lines: number, reason: string) => void;
  /** Called when lines have been written. Must not throw. */
  readonly written?: () => void;
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
/** Milliseconds between two checks whether the file was moved. */
const checkDelay = 100;
const lineFeed = 10;
const nothing = Buffer.alloc(0);

class BufferedSink implements LogSink {
  readonly enabled = true;
  dropped = 0;
  readonly #pending: LineBuffer;
  /** Bytes that are being written, and how many of them are written. */
  #batch: Buffer = nothing;
  #offset = 0;
  #writing: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #device: LogDevice | null = null;
  #openedAt = Number.NEGATIVE_INFINITY;
  #checkedAt = Number.NEGATIVE_INFINITY;
  /** Why the target could not be opened. */
  #openFailure = '';
  /** True when the last line in the file was cut, so that the next one must not continue it. */
  #torn = false;
  #closed = false;
  readonly #target: string;
  readonly #interval: number;
  readonly #flushSize: number;
  readonly #capacity: number;
  readonly #options: LogSinkOptions;

  constructor(target: string, options: LogSinkOptions) {
    this.#target = target;
    this.#options = options;
    this.#pending = new LineBuffer(options.bytes === true);
    this.#interval = options.interval ?? 150;
    this.#flushSize = options.flushSize ?? 256 * 1024;
    this.#capacity = options.capacity ?? 4 * 1024 * 1024;
    this.#open();
  }

  write(line: string): void {
    const kept = this.#pending.length + this.#batch.length - this.#offset;
    if (this.#closed || kept + line.length >= this.#capacity) {
      this.#lose(1, this.#closed ? 'closed' : 'lines come faster than they are written');
      return;
    }
    this.#pending.add(line);
    this.#schedule();
  }

  reopen(): void {
    if (this.#closed) return;
    const old = this.#device;
    this.#start();
    const last = this.#writing ?? Promise.resolve();
    this.#open();
    // The batch in progress keeps the old file; the next one goes to the new one.
    if (old !== null && old !== this.#device) void last.then(() => old.close());
  }

  async flush(): Promise<void> {
    // The first round may be a batch that was already in progress; the second holds the later lines.
    for (let round = 0; round < 2; round++) {
      this.#start();
      await this.#writing;
    }
  }

  flushNow(): void {
    // A batch in progress is not touched: writing it again could print it twice.
    if (this.#writing !== null || this.#pending.lines === 0) return;
    const lines = this.#pending.lines;
    const bytes = this.#pending.take(this.#torn);
    if (this.#device?.writeNow(bytes) !== true) this.#lose(lines, this.#failure);
  }

  async close(timeout = 1000): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeout);
    await Promise.race([this.flush(), late]);
    clearTimeout(timer);
    this.#dropRest('not written in time');
    this.#lose(this.#pending.lines, 'not written in time');
    this.#pending.take(false);
    const device = this.#device;
    this.#device = null;
    // During a write that hangs the descriptor of the file could be reused for another file.
    if (this.#writing === null) device?.close();
    else void this.#writing.then(() => device?.close());
  }

  #schedule(): void {
    if (this.#writing !== null) return;
    if (this.#pending.length >= this.#flushSize) this.#start();
    else this.#timer ??= setTimeout(() => this.#start(), this.#interval).unref();
  }

  #start(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#writing !== null || this.#pending.lines === 0) return;
    if (this.#device === null && performance.now() - this.#openedAt > reopenDelay) this.#open();
    this.#batch = this.#pending.take(this.#torn);
    this.#offset = 0;
    const drained = this.#options.followsMoves === true ? this.#follow() : this.#drain(this.#device);
    this.#writing = drained.then(() => {
      this.#writing = null;
      if (this.#pending.lines > 0) this.#schedule();
    });
  }

  async #follow(): Promise<void> {
    const device = this.#device;
    const now = performance.now();
    if (device !== null && now - this.#checkedAt >= checkDelay) {
      this.#checkedAt = now;
      // Meanwhile others may have reopened it.
      if ((await device.hasMoved(this.#target)) && this.#device === device) {
        this.#open();
        device.close();
      }
    }
    return this.#drain(this.#device);
  }

  async #drain(device: LogDevice | null): Promise<void> {
    while (this.#offset < this.#batch.length) {
      const written = device === null ? -1 : await device.write(this.#batch, this.#offset);
      if (written < 0) {
        this.#dropRest(this.#failure);
        this.#pending.release();
        return;
      }
      this.#offset += written;
      if (written === 0) await pause(fullDelay);
    }
    this.#torn = false;
    this.#batch = nothing;
    this.#offset = 0;
    this.#pending.release();
    this.#options.written?.();
  }

  /** Drops the rest of the batch in progress. */
  #dropRest(reason: string): void {
    // In a file with several writers, the line of another worker may have been cut at the same moment.
    this.#torn ||= this.#device?.isFile === true || (this.#offset > 0 && this.#batch[this.#offset - 1] !== lineFeed);
    let lines = 0;
    // The end of a torn line is not a line itself.
    const first = this.#offset === 0 && this.#batch[0] === lineFeed ? 1 : this.#offset;
    for (let index = first; index < this.#batch.length; index++) {
      if (this.#batch[index] === lineFeed) lines++;
    }
    this.#batch = nothing;
    this.#offset = 0;
    this.#lose(lines, reason);
  }

  #lose(lines: number, reason: string): void {
    if (lines === 0) return;
    this.dropped += lines;
    this.#options.lost?.(lines, reason);
  }

  get #failure(): string {
    return this.#device === null ? this.#openFailure : this.#device.failure;
  }

  #open(): void {
    this.#openedAt = performance.now();
    this.#torn = false;
    try {
      this.#device = openDevice(this.#target, this.#options);
      this.#openFailure = '';
    } catch (error) {
      // Tried again with the next line.
      this.#device = null;
      this.#openFailure = error instanceof Error ? error.message : String(error);
    }
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref();
  });
}
