import type { LogLevel } from '../settings/settings.ts';
import { type ErrorLog, type ErrorLogOptions, isLogLevel, type LogFields } from './error-log.ts';
import type { LogReceiver } from './log-receiver.ts';
import { severities } from './severities.ts';

export interface ReceivedLogOptions extends Pick<ErrorLogOptions, 'level' | 'observe' | 'fields'> {
  readonly receiver: LogReceiver;
}

/** An error log whose lines go to a function: the log of the application that the gateway runs in. */
export function createReceivedLog({ receiver, level, observe, fields = {} }: ReceivedLogOptions): ErrorLog {
  return new ReceivedLog({ receiver, level, observe: observe ?? null }, fields);
}

interface Shared {
  readonly receiver: LogReceiver;
  readonly observe: NonNullable<ErrorLogOptions['observe']> | null;
  level: LogLevel;
}

class ReceivedLog implements ErrorLog {
  readonly dropped = 0;
  readonly #shared: Shared;
  readonly #fields: LogFields;

  constructor(shared: Shared, fields: LogFields) {
    this.#shared = shared;
    this.#fields = fields;
  }

  debug: ErrorLog['debug'] = (message, fields) => this.#write('debug', message, fields);
  info: ErrorLog['info'] = (message, fields) => this.#write('info', message, fields);
  notice: ErrorLog['notice'] = (message, fields) => this.#write('notice', message, fields);
  warn: ErrorLog['warn'] = (message, fields) => this.#write('warn', message, fields);
  error: ErrorLog['error'] = (message, fields) => this.#write('error', message, fields);
  crit: ErrorLog['crit'] = (message, fields) => this.#write('crit', message, fields);
  alert: ErrorLog['alert'] = (message, fields) => this.#write('alert', message, fields);
  emerg: ErrorLog['emerg'] = (message, fields) => this.#write('emerg', message, fields);

  log(level: string, message: string, fields?: LogFields): void {
    this.#write(isLogLevel(level) ? level : 'error', message, fields);
  }

  child(fields: LogFields): ErrorLog {
    return new ReceivedLog(this.#shared, { ...this.#fields, ...fields });
  }

  get level(): LogLevel {
    return this.#shared.level;
  }

  setLevel(level: LogLevel): void {
    this.#shared.level = level;
  }

  reopen(): void {}
  flushNow(): void {}
  async flush(): Promise<void> {}
  async close(): Promise<void> {}

  #write(level: LogLevel, message: string, more: LogFields | undefined): void {
    const { receiver, observe } = this.#shared;
    const fields = { ...this.#fields, ...more };
    if (observe !== null && severities[level] >= severities.warn) observe(level, message, fields);
    if (severities[level] < severities[this.#shared.level]) return;
    try {
      receiver(level, message, fields);
    } catch {
      // The log of the application must not end what the gateway does.
    }
  }
}
