import { createRequire } from 'node:module';
import { isatty } from 'node:tty';
import type { Logger as PinoLogger } from 'pino';
import type { LogLevel, LogTarget, Settings } from '../settings/settings.ts';
import type { LogSink } from './log-sink.ts';
import { openLogSink } from './log-sink.ts';
import { severities } from './severities.ts';
import { formatTextLine } from './text-line.ts';

export type LogFields = Readonly<Record<string, unknown>>;

type Write = (message: string, fields?: LogFields) => void;

/** The error log of a thread. Writing to it never blocks; an `Error` under the field `err` is written with its stack. */
export interface ErrorLog extends Readonly<Record<LogLevel, Write>> {
  /** The level chosen at run time, as it arrives in messages between threads. An unknown one means `error`. */
  log(level: string, message: string, fields?: LogFields): void;
  /** The same log, with fields on every line. */
  child(fields: LogFields): ErrorLog;
  /** The least severe level that is written; shared with all children. */
  readonly level: LogLevel;
  setLevel(level: LogLevel): void;
  /** Lines lost because the target was slow, full or broken. */
  readonly dropped: number;
  reopen(): void;
  flush(): Promise<void>;
  /** Writes buffered lines before it returns: for the last lines of a process. */
  flushNow(): void;
  close(timeout?: number): Promise<void>;
}

export interface ErrorLogOptions {
  readonly target: LogTarget;
  readonly level: LogLevel;
  readonly format: Settings['logFormat'];
  /** Fields of every line: `{ worker: 1 }`. */
  readonly fields?: LogFields;
  /** Receives every line from `warn` on, also those that the level or the target leaves out. Must not throw. Default: nobody. */
  readonly observe?: (level: LogLevel, message: string, fields: LogFields) => void;
}

/** This log has few lines, and they are wanted soon. */
const flushInterval = 10;

export function createErrorLog(options: ErrorLogOptions): ErrorLog {
  const sink = openLogSink(options.target, { interval: flushInterval });
  const asText = options.format === 'text' || (options.format === 'auto' && isTerminal(options.target));
  const write = (line: string): void => sink.write(asText ? formatTextLine(line) : line);
  const logger = (): Logger => {
    // Loaded by the first line: most starts write none.
    const { pino } = createRequire(import.meta.url)('pino') as typeof import('pino');
    return pino(
      {
        customLevels: severities,
        useOnlyCustomLevels: true,
        level: 'debug',
        base: options.fields ?? {},
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
        serializers: { err: pino.stdSerializers.err },
      },
      { write: (line: string) => write(line.trimEnd()) },
    );
  };
  const shared = { level: options.level, observe: options.observe ?? null, write };
  return new PinoErrorLog(once(logger), sink, shared, options.fields ?? {});
}

/** True when the target is a terminal. */
function isTerminal(target: LogTarget): boolean {
  if (target === '/dev/stdout') return isatty(1);
  return target === '/dev/stderr' && isatty(2);
}

type Logger = PinoLogger<LogLevel, boolean>;

interface SharedByChildren {
  readonly write: (line: string) => void;
  level: LogLevel;
  readonly observe: NonNullable<ErrorLogOptions['observe']> | null;
}

class PinoErrorLog implements ErrorLog {
  readonly #logger: () => Logger;
  readonly #sink: LogSink;
  readonly #shared: SharedByChildren;
  readonly #fields: LogFields;

  constructor(logger: () => Logger, sink: LogSink, shared: SharedByChildren, fields: LogFields) {
    this.#logger = logger;
    this.#sink = sink;
    this.#shared = shared;
    this.#fields = fields;
  }

  debug: Write = (message, fields) => this.#write('debug', message, fields);
  info: Write = (message, fields) => this.#write('info', message, fields);
  notice: Write = (message, fields) => this.#write('notice', message, fields);
  warn: Write = (message, fields) => this.#write('warn', message, fields);
  error: Write = (message, fields) => this.#write('error', message, fields);
  crit: Write = (message, fields) => this.#write('crit', message, fields);
  alert: Write = (message, fields) => this.#write('alert', message, fields);
  emerg: Write = (message, fields) => this.#write('emerg', message, fields);

  log(level: string, message: string, fields?: LogFields): void {
    this.#write(isLogLevel(level) ? level : 'error', message, fields);
  }

  child(fields: LogFields): ErrorLog {
    const logger = once(() => this.#logger().child(fields));
    return new PinoErrorLog(logger, this.#sink, this.#shared, { ...this.#fields, ...fields });
  }

  get level(): LogLevel {
    return this.#shared.level;
  }

  setLevel(level: LogLevel): void {
    this.#shared.level = level;
  }

  get dropped(): number {
    return this.#sink.dropped;
  }

  reopen(): void {
    this.#sink.reopen();
  }

  flush(): Promise<void> {
    return this.#sink.flush();
  }

  flushNow(): void {
    this.#sink.flushNow();
  }

  close(timeout?: number): Promise<void> {
    return this.#sink.close(timeout);
  }

  #write(level: LogLevel, message: string, fields: LogFields | undefined): void {
    const { observe } = this.#shared;
    if (observe !== null && severities[level] >= severities.warn)
      observe(level, message, { ...this.#fields, ...fields });
    if (!this.#sink.enabled || severities[level] < severities[this.#shared.level]) return;
    const logger = this.#loaded();
    if (logger !== null) logger[level](fields ?? {}, message);
    else this.#shared.write(plainLine(level, message, { ...this.#fields, ...fields }));
  }

  /** Null: its modules cannot be read now, as when the process has no file descriptor left. The next line tries again. */
  #loaded(): Logger | null {
    try {
      return this.#logger();
    } catch {
      return null;
    }
  }
}

function plainLine(level: LogLevel, msg: string, { err, ...fields }: LogFields): string {
  const cause = err instanceof Error ? { err: { type: err.name, message: err.message, stack: err.stack } } : {};
  return JSON.stringify({ level, time: new Date().toISOString(), ...fields, ...cause, msg });
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

export function isLogLevel(text: string): text is LogLevel {
  return Object.hasOwn(severities, text);
}
