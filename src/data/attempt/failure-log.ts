import type { PluginLogger } from '../../plugin-sdk/tools.ts';
import type { ErrorEntry } from '../../shared/errors.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { OutageLog } from '../../shared/util/time/outage-log.ts';
import type { Exchange } from '../request/exchange.ts';

/** Backends with an outage of their own in the log; all others share one. */
const maxBackends = 256;
/** Milliseconds between two sweeps for outages that have ended. */
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
    if (this.#outages.size >= maxBackends && !this.#sweep()) return this.#others;
    const outage = new OutageLog(this.#log, message, { fields });
    this.#outages.set(key, outage);
    return outage;
  }

  /** False: no outage has ended. */
  #sweep(): boolean {
    const now = monotonic();
    if (now < this.#nextSweep) return false;
    this.#nextSweep = now + sweepInterval;
    for (const [key, outage] of this.#outages) if (!outage.active) this.#outages.delete(key);
    return this.#outages.size < maxBackends;
  }
}
