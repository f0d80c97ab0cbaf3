import type { ErrorEntry } from '../errors.ts';
import type { PluginLogger } from '../plugin-sdk/define-plugin.ts';
import { monotonic } from '../util/clock.ts';
import type { Exchange } from './exchange.ts';

/** Lines in a second: a backend that is down fails every request, and the log must stay readable. */
const linesPerSecond = 10;

/** Tells the error log of attempts that failed, and why. */
export class FailureLog {
  readonly #log: PluginLogger;
  #second = 0;
  #lines = 0;
  #left = 0;

  constructor(log: PluginLogger) {
    this.#log = log;
  }

  failed(x: Exchange, error: ErrorEntry): void {
    const second = Math.floor(monotonic() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#lines = 0;
    }
    if (++this.#lines > linesPerSecond) {
      this.#left++;
      return;
    }
    const { service, target } = x;
    this.#log.error('an attempt at a backend failed', {
      request_id: x.id,
      service: service?.name ?? service?.id,
      host: target?.host,
      ...(x.targetIp === '' ? {} : { address: `${x.targetIp}:${x.targetPort}` }),
      attempt: x.tries,
      error: error.code,
      ...(x.failureCause === '' ? {} : { cause: x.failureCause }),
      ...(this.#left === 0 ? {} : { unsaid: this.#left }),
    });
    this.#left = 0;
  }
}
