import type { ActiveChecks, ProbeType } from '../../shared/health/health-config.ts';
import { type ProbeResult, ProbeRun, type ProbeTarget } from './probe.ts';
import { probeGrpc } from './probe-grpc.ts';
import { probeHttp, probeTcp } from './probe-http.ts';

/** One address that is probed. */
export interface CheckedAddress {
  readonly slot: number;
  readonly host: string;
  readonly ip: string;
  readonly port: number;
}

export interface CheckerOptions {
  isHealthy(slot: number): boolean;
  /** Receives the result of a probe. The health of the address may have changed meanwhile. */
  probed(address: CheckedAddress, result: ProbeResult): void;
  /** The target of the probe. Throws when it cannot be sent. */
  targetOf(address: CheckedAddress, checks: ActiveChecks): Promise<ProbeTarget> | ProbeTarget;
}

interface Entry {
  address: CheckedAddress;
  timer: NodeJS.Timeout | null;
  /** When the last probe began, monotonic; the next one follows after the interval. */
  begunAt: number;
  /** Queued or running. */
  busy: boolean;
  gone: boolean;
}

const probes: Readonly<Record<ProbeType, (run: ProbeRun, target: ProbeTarget) => void>> = {
  http: probeHttp,
  https: probeHttp,
  tcp: probeTcp,
  grpc: probeGrpc,
  grpcs: probeGrpc,
};

/** First probes of many addresses are spread over this many milliseconds, or the interval if that is shorter. */
const spread = 1000;
/** Milliseconds between two checks of the health of an address that is not probed. */
const healthCheckInterval = 1000;

/** Probes the addresses of one upstream: each at its own interval, never twice at the same time, with limited concurrency. */
export class ActiveChecker {
  readonly #options: CheckerOptions;
  readonly #entries = new Map<number, Entry>();
  readonly #waiting: Entry[] = [];
  readonly #runs = new Set<ProbeRun>();
  #checks: ActiveChecks;
  #running = 0;

  constructor(checks: ActiveChecks, options: CheckerOptions) {
    this.#checks = checks;
    this.#options = options;
  }

  /** Sets the addresses to probe. Known ones keep their schedule unless the checks have changed. */
  update(checks: ActiveChecks, addresses: readonly CheckedAddress[]): void {
    const others = checks !== this.#checks;
    this.#checks = checks;
    const slots = new Set(addresses.map(({ slot }) => slot));
    for (const [slot, entry] of this.#entries) if (!slots.has(slot)) this.#drop(slot, entry);
    for (const address of addresses) {
      // Without a slot in the zone the address has no health.
      if (address.slot === 0) continue;
      const known = this.#entries.get(address.slot);
      if (known !== undefined) {
        known.address = address;
        if (others) this.#schedule(known);
        continue;
      }
      const entry: Entry = { address, timer: null, begunAt: 0, busy: false, gone: false };
      this.#entries.set(address.slot, entry);
      const interval = this.#interval(entry);
      entry.begunAt = performance.now() - interval + Math.random() * Math.min(spread, interval);
      this.#schedule(entry);
    }
  }

  /** The address became healthy or unhealthy, so its interval changes. */
  flipped(slot: number): void {
    const entry = this.#entries.get(slot);
    if (entry !== undefined) this.#schedule(entry);
  }

  close(): void {
    for (const [slot, entry] of this.#entries) this.#drop(slot, entry);
    for (const run of this.#runs) run.end({ kind: 'not-made', cause: 'the check was ended' });
  }

  #interval({ address }: Entry): number {
    return this.#options.isHealthy(address.slot) ? this.#checks.healthyInterval : this.#checks.unhealthyInterval;
  }

  #schedule(entry: Entry): void {
    if (entry.timer !== null) clearTimeout(entry.timer);
    entry.timer = null;
    // When the probe is over it is scheduled again.
    if (entry.busy || entry.gone) return;
    const interval = this.#interval(entry);
    // A change of health is reported; this check also finds one whose report was lost.
    if (interval === 0) entry.timer = setTimeout(() => this.#schedule(entry), healthCheckInterval).unref();
    else entry.timer = setTimeout(() => this.#due(entry), Math.max(0, entry.begunAt + interval - performance.now()));
  }

  #due(entry: Entry): void {
    entry.timer = null;
    entry.busy = true;
    this.#waiting.push(entry);
    this.#start();
  }

  #start(): void {
    while (this.#running < this.#checks.concurrency) {
      const entry = this.#waiting.shift();
      if (entry === undefined) return;
      if (entry.gone) continue;
      this.#running++;
      void this.#probe(entry);
    }
  }

  async #probe(entry: Entry): Promise<void> {
    entry.begunAt = performance.now();
    const checks = this.#checks;
    const { address } = entry;
    const result = await this.#run(address, checks);
    this.#running--;
    entry.busy = false;
    if (!entry.gone) {
      this.#options.probed(address, result);
      this.#schedule(entry);
    }
    this.#start();
  }

  async #run(address: CheckedAddress, checks: ActiveChecks): Promise<ProbeResult> {
    let target: ProbeTarget;
    try {
      target = await this.#options.targetOf(address, checks);
    } catch (error) {
      return { kind: 'not-made', cause: error instanceof Error ? error.message : String(error) };
    }
    const { promise, resolve } = Promise.withResolvers<ProbeResult>();
    const run = new ProbeRun(target.timeout, resolve);
    this.#runs.add(run);
    try {
      probes[checks.type](run, target);
    } catch (error) {
      run.failed(error as Error);
    }
    const result = await promise;
    this.#runs.delete(run);
    return result;
  }

  #drop(slot: number, entry: Entry): void {
    entry.gone = true;
    if (entry.timer !== null) clearTimeout(entry.timer);
    this.#entries.delete(slot);
  }
}
