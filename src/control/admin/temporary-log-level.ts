import type { LogLevel } from '../../shared/settings/settings.ts';

/** The level of the error log of the whole node, workers included; changed while it runs. */
export interface LogLevelControl {
  get(): LogLevel;
  set(level: LogLevel): void;
}

/** The level of the error log, which requests of the Admin API change for a while. */
export class TemporaryLogLevel {
  readonly #control: LogLevelControl;
  /** The level after a temporary change. */
  #lasting: LogLevel;
  #timer: NodeJS.Timeout | undefined;

  constructor(control: LogLevelControl) {
    this.#control = control;
    this.#lasting = control.get();
  }

  get(): LogLevel {
    return this.#control.get();
  }

  /** `timeout`: seconds until it is changed back; 0: never. */
  change(level: LogLevel, timeout: number): void {
    clearTimeout(this.#timer);
    this.#control.set(level);
    if (timeout === 0) this.#lasting = level;
    else this.#timer = setTimeout(() => this.#control.set(this.#lasting), timeout * 1000).unref();
  }
}
