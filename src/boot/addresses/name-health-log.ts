import { OutageLog, type OutageLogOptions } from '../../shared/util/time/outage-log.ts';

/** Maximum names with log lines of their own; when more fail at the same time, the others share one outage. */
const maxNames = 10;

type Lines = ConstructorParameters<typeof OutageLog>[0];

/** Logs names that cannot be resolved: a line for each of a few, and one for all others when the DNS servers are unavailable. */
export class NameHealthLog {
  readonly #log: Lines;
  readonly #options: OutageLogOptions;
  readonly #names = new Map<string, OutageLog>();
  readonly #others: OutageLog;

  constructor(log: Lines, options: OutageLogOptions = {}) {
    this.#log = log;
    this.#options = { ...options, untilSuccess: true };
    this.#others = new OutageLog(log, 'DNS resolution failed for further names', this.#options);
  }

  /** `stale`: the last addresses stay in use. */
  changed(name: string, error: string | null, stale: boolean): void {
    if (error === null) (this.#names.get(name) ?? this.#others).succeeded();
    else this.#outageOf(name).failed(error, { stale });
  }

  /** The name is not in use any more. */
  remove(name: string): void {
    this.#names.delete(name);
  }

  #outageOf(name: string): OutageLog {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    if (this.#names.size >= maxNames) {
      for (const [other, outage] of this.#names) if (!outage.active) this.#names.delete(other);
    }
    if (this.#names.size >= maxNames) return this.#others;
    const outage = new OutageLog(this.#log, `DNS resolution failed for ${name}`, this.#options);
    this.#names.set(name, outage);
    return outage;
  }
}
