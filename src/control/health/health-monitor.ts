import { isIP } from 'node:net';
import {
  type ActiveChecks,
  type HealthConfig,
  healthConfigOf,
  thresholdOf,
} from '../../shared/health/health-config.ts';
import {
  type Flip,
  reportHttpFailure,
  reportHttpStatus,
  reportSuccess,
  reportTcpFailure,
  reportTimeout,
} from '../../shared/health/report.ts';
import type { TargetAddress, WatchedUpstream } from '../../shared/messages/upstream-addresses.ts';
import type { AddressZone } from '../../shared/zones/address-zone.ts';
import { ActiveChecker, type CheckedAddress } from './active-checker.ts';
import { HealthJournal, type HealthLog, type HealthSource, type HealthTransition } from './health-journal.ts';
import type { ProbeResult, ProbeTarget, ProbeTls } from './probe.ts';

export interface HealthMonitorOptions {
  readonly zone: AddressZone;
  readonly log: HealthLog;
  /** PEM of the authorities that probes by TLS trust; null: Node's own. */
  readonly authorities: string | null;
  /** The client certificate of an upstream by its id. */
  readonly certificate: (id: string) => Promise<ProbeTls['client']>;
}

/** Health of an upstream as this node sees it. */
export interface UpstreamHealth {
  /** False: nothing could make an address unhealthy. */
  readonly checked: boolean;
  /** More of the weight is available than the threshold requires. */
  readonly healthy: boolean;
  /** Oldest first. */
  readonly targets: readonly TargetHealth[];
  /** The last changes, the latest first. */
  readonly transitions: readonly HealthTransition[];
}

export interface TargetHealth {
  readonly id: string;
  readonly host: string;
  readonly port: number;
  /** Why its name has no address; null: it has one, or the query is in progress. */
  readonly error: string | null;
  readonly addresses: readonly AddressHealth[];
}

export interface AddressHealth {
  readonly ip: string;
  readonly port: number;
  readonly weight: number;
  readonly healthy: boolean;
}

/** A change of health by the passive checks of a worker. */
export interface WorkerFlip extends Flip {
  readonly upstreamId: string;
  readonly slot: number;
}

interface Entry {
  upstream: WatchedUpstream;
  /** Null: checks are off. */
  config: HealthConfig | null;
  /** Percentage of the weight that has to be available, strictly. The balancer applies it without checks as well. */
  threshold: number;
  /** The record from which `config` was built. */
  source: string;
  checker: ActiveChecker | null;
}

/**
 * The control plane's part of health checks: probes the addresses of upstreams, records changes, and sets health by hand. The
 * health itself is in the address zone, which edits of the config do not change.
 */
export class HealthMonitor {
  readonly #options: HealthMonitorOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #journal: HealthJournal;
  #closed = false;
  readonly #restored = new Map<string, Set<string>>();

  constructor(options: HealthMonitorOptions) {
    this.#options = options;
    this.#journal = new HealthJournal(options.log);
  }

  /** Applies the current list of upstreams. */
  update(upstreams: Iterable<WatchedUpstream>): void {
    if (this.#closed) return;
    const gone = new Set(this.#entries.keys());
    for (const upstream of upstreams) {
      gone.delete(upstream.upstreamId);
      if (this.#entries.get(upstream.upstreamId)?.upstream !== upstream) this.#take(upstream);
    }
    for (const id of gone) {
      this.#entries.get(id)?.checker?.close();
      this.#entries.delete(id);
      this.#journal.remove(id);
    }
  }

  /** Addresses that the process before this one did not use, by upstream and name: excluded as soon as they are known. */
  restore(unhealthy: readonly { readonly upstreamId: string; readonly address: string }[]): void {
    for (const { upstreamId, address } of unhealthy) {
      const names = this.#restored.get(upstreamId) ?? new Set<string>();
      this.#restored.set(upstreamId, names.add(address));
    }
  }

  /** The addresses that are not used now. */
  unhealthy(): readonly { readonly upstreamId: string; readonly address: string }[] {
    const { zone } = this.#options;
    return [...this.#entries].flatMap(([upstreamId, { upstream }]) =>
      upstream.addresses
        .filter(({ slot }) => !zone.isHealthy(slot))
        .map((address) => ({ upstreamId, address: nameOf(address) })),
    );
  }

  workerFlipped({ upstreamId, slot, healthy, reason }: WorkerFlip): void {
    const entry = this.#entries.get(upstreamId);
    const address = entry?.upstream.addresses.find((each) => each.slot === slot);
    if (entry === undefined || address === undefined) return;
    this.#changed(entry, address, healthy, 'passive', reason);
    // The worker did not have the change yet.
    if (entry.config === null) this.#set(entry, address, true, 'config', 'checks are off');
  }

  /**
   * Sets health by hand: of all addresses of a target, or of one (`10.0.0.1:80`). `off`: the upstream has no checks;
   * `unknown`: it has no such address.
   */
  setHealth(
    upstreamId: string,
    targetId: string,
    address: string | null,
    healthy: boolean,
  ): 'done' | 'off' | 'unknown' {
    const entry = this.#entries.get(upstreamId);
    if (entry === undefined || entry.config === null) return 'off';
    const meant = entry.upstream.addresses.filter(
      (each) => each.targetId === targetId && (address === null || nameOf(each) === address),
    );
    if (meant.length === 0) return 'unknown';
    for (const each of meant) this.#set(entry, each, healthy, 'manual', 'set by hand');
    return 'done';
  }

  /** Null: the node does not balance over it (yet). */
  stateOf(upstreamId: string): UpstreamHealth | null {
    const entry = this.#entries.get(upstreamId);
    if (entry === undefined) return null;
    const { upstream, config, threshold } = entry;
    const { zone } = this.#options;
    let total = 0;
    let available = 0;
    const addresses = new Map<string, AddressHealth[]>(upstream.targets.map(({ row }) => [row.id, []]));
    for (const { targetId, ip, port, weight, slot } of upstream.addresses) {
      const healthy = zone.isHealthy(slot);
      total += weight;
      if (healthy) available += weight;
      addresses.get(targetId)?.push({ ip, port, weight, healthy });
    }
    const targets = upstream.targets.map(({ row, host, port, error }) => ({
      ...{ id: row.id, host, port, error },
      addresses: addresses.get(row.id) ?? [],
    }));
    return {
      checked: config !== null,
      healthy: available > 0 && (available / total) * 100 > threshold,
      targets,
      transitions: this.#journal.of(upstreamId),
    };
  }

  close(): void {
    this.#closed = true;
    for (const { checker } of this.#entries.values()) checker?.close();
    this.#entries.clear();
  }

  #take(upstream: WatchedUpstream): void {
    const { row, upstreamId } = upstream;
    const source = JSON.stringify(row['healthchecks'] ?? null);
    let entry = this.#entries.get(upstreamId);
    if (entry === undefined || entry.source !== source) {
      const config = healthConfigOf(row['healthchecks']);
      if (entry === undefined) {
        entry = { upstream, config, threshold: 0, source, checker: null };
        this.#entries.set(upstreamId, entry);
      }
      entry.config = config;
      entry.threshold = thresholdOf(row['healthchecks']);
      entry.source = source;
    }
    entry.upstream = upstream;
    // Without checks nothing would make them healthy again.
    if (entry.config === null) {
      for (const address of upstream.addresses) this.#set(entry, address, true, 'config', 'checks are off');
    }
    this.#restore(entry);
    this.#probe(entry);
  }

  #restore(entry: Entry): void {
    const names = this.#restored.get(entry.upstream.upstreamId);
    if (names === undefined || entry.config === null) return;
    for (const address of entry.upstream.addresses) {
      const excluded = names.delete(nameOf(address));
      if (excluded) this.#set(entry, address, false, 'upgrade', 'unhealthy before the upgrade');
    }
  }

  #probe(entry: Entry): void {
    const active = entry.config?.active ?? null;
    if (active === null) {
      entry.checker?.close();
      entry.checker = null;
      return;
    }
    const { zone } = this.#options;
    entry.checker ??= new ActiveChecker(active, {
      isHealthy: (slot) => zone.isHealthy(slot),
      probed: (address, result) => this.#probed(entry, address.slot, result),
      targetOf: (address, checks) => this.#targetOf(entry, address, checks),
    });
    entry.checker.update(active, entry.upstream.addresses);
  }

  async #targetOf(entry: Entry, { host, ip, port }: CheckedAddress, checks: ActiveChecks): Promise<ProbeTarget> {
    const { row } = entry.upstream;
    const configured = row['host_header'];
    const authority = typeof configured === 'string' && configured !== '' ? configured : bracketed(host);
    const { timeout, path, headers, type } = checks;
    const common = { host, ip, port, authority, timeout, path, headers };
    if (type !== 'https' && type !== 'grpcs') return { ...common, tls: null };
    const reference = row['client_certificate'] as { readonly id: string } | null | undefined;
    const client = reference == null ? null : await this.#options.certificate(reference.id);
    const { authorities } = this.#options;
    return { ...common, tls: { name: checks.sni ?? host, verify: checks.verify, ca: authorities, client } };
  }

  #probed(entry: Entry, slot: number, result: ProbeResult): void {
    const { upstream, config } = entry;
    const address = upstream.addresses.find((each) => each.slot === slot);
    if (address === undefined || config?.active == null) return;
    const about = { zone: this.#options.zone, slot, upstreamSlot: upstream.slot };
    const flip = evaluate(about, config.active, result);
    if (flip === null) return;
    this.#changed(entry, address, flip.healthy, 'active', `${flip.reason}; the last: ${described(result)}`);
  }

  #set(entry: Entry, address: TargetAddress, healthy: boolean, source: HealthSource, reason: string): void {
    const { zone } = this.#options;
    if (!zone.setHealthy(address.slot, healthy)) return;
    zone.changed(entry.upstream.slot);
    this.#changed(entry, address, healthy, source, reason);
  }

  #changed(entry: Entry, address: TargetAddress, healthy: boolean, source: HealthSource, reason: string): void {
    const transition = { at: Date.now(), address: nameOf(address), healthy, source, reason };
    this.#journal.note(entry.upstream, address.host, transition);
    entry.checker?.flipped(address.slot);
  }
}

function evaluate(about: Parameters<typeof reportSuccess>[0], checks: ActiveChecks, result: ProbeResult): Flip | null {
  switch (result.kind) {
    case 'success':
      return reportSuccess(about, checks);
    case 'status':
      return reportHttpStatus(about, checks, result.status);
    case 'http-failure':
      return reportHttpFailure(about, checks);
    case 'tcp-failure':
      return reportTcpFailure(about, checks);
    case 'timeout':
      return reportTimeout(about, checks);
    case 'not-made':
      return null;
  }
}

function described(result: ProbeResult): string {
  if (result.kind === 'success') return 'it answered';
  return result.kind === 'status' ? `status ${result.status}` : result.cause;
}

function nameOf({ ip, port }: TargetAddress): string {
  return `${bracketed(ip)}:${port}`;
}

function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}
