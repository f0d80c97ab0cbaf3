import type { ErrorEntry } from '../errors.ts';
import type { PluginLogger } from '../plugin-sdk/define-plugin.ts';
import { monotonic } from '../util/clock.ts';
import { OutageLog } from '../util/outage-log.ts';
import type { Exchange } from './exchange.ts';

/** Backends with an outage of their own in the log; further ones share one. */
const mostBackends = 256;
/** Milliseconds between two searches for outages that have ended. */
const sweepInterval = 1_000;
const message = 'an attempt at a backend failed';

/**
 * Logs failed attempts as outages, one for each backend: a backend that is down fails every request, and the log must stay
 * readable.
 */
export class FailureLog {
  readonly #log: PluginLogger;
  readonly #outages = new Map<string, OutageLog>();
  readonly #others: OutageLog;
  #nextSweep = 0;

  constructor(log: PluginLogger) {
    this.#log = log;
    this.#others = new OutageLog(log, 'attempts at further backends failed');
  }

  failed(x: Exchange, error: ErrorEntry): void {
    const { service, target } = x;
    const name = service?.name ?? service?.id;
    const address = x.targetIp === '' ? undefined : `${x.targetIp}:${x.targetPort}`;
    const backend = { service: name, host: target?.host, ...(address === undefined ? {} : { address }) };
    const reason = x.failureCause === '' ? error.code : `${error.code}: ${x.failureCause}`;
    const key = `${name} ${target?.host} ${address}`;
    this.#outageOf(key, backend).failed(reason, { request_id: x.id, attempt: x.tries });
  }

  #outageOf(key: string, fields: Readonly<Record<string, unknown>>): OutageLog {
    const known = this.#outages.get(key);
    if (known !== undefined) return known;
    if (this.#outages.size >= mostBackends && !this.#sweep()) return this.#others;
    const outage = new OutageLog(this.#log, message, { fields });
    this.#outages.set(key, outage);
    return outage;
  }

  /** False: all outages go on. */
  #sweep(): boolean {
    const now = monotonic();
    if (now < this.#nextSweep) return false;
    this.#nextSweep = now + sweepInterval;
    for (const [key, outage] of this.#outages) if (!outage.active) this.#outages.delete(key);
    return this.#outages.size < mostBackends;
  }
}
