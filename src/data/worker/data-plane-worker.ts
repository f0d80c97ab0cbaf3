import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { Plugin } from '../../plugin-sdk/define-plugin.ts';
import { reopenFiles } from '../../shared/logs/reopening.ts';
import type {
  FromWorker,
  SnapshotDelta,
  SnapshotFailure,
  ToWorker,
  WorkerBoot,
  ZoneChanges,
} from '../../shared/messages/messages.ts';
import type { CodeObservation } from '../../shared/messages/plugin-code.ts';
import { pluginDrainTimeout } from '../../shared/messages/plugin-settings.ts';
import type { AddressChanges } from '../../shared/messages/upstream-addresses.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import { AddressZone } from '../../shared/zones/address-zone.ts';
import { workerCounters } from '../../shared/zones/counters.ts';
import { WeightedSequence } from '../balancer/weighted-sequence.ts';
import { observeCode } from '../plugin-runner/code-observer.ts';
import { PluginRegistry } from '../plugin-runner/plugin-registry.ts';
import { type DataPlane, startDataPlane } from '../request/data-plane.ts';
import type { UpstreamTlsDefaults } from '../snapshot/build-tls.ts';
import { LiveSnapshot } from '../snapshot/snapshot.ts';
import type { StreamPlane } from '../stream/stream-plane.ts';
import { WorkerResolver } from '../upstream/worker-resolver.ts';
import { UsageRecorder } from '../usage/usage-recorder.ts';
import { DeltaPieces, sizeOf } from './delta-pieces.ts';
import { PluginCodeSwaps } from './plugin-code-swaps.ts';
import { WorkerPluginHost } from './plugin-host.ts';
import { TrafficSwitch } from './traffic-switch.ts';
import { WorkerLog } from './worker-log.ts';

/**
 * Maximum entities of a change that is applied in place: 1000 take some 10 ms, in which requests wait. For a larger one new tables
 * are built in pieces, which takes longer in all.
 */
const maxInPlace = 1000;

/** Milliseconds that a worker which ends waits for leases: what arrives later counts as used until its window ends. */
const leaseTimeout = 1000;

/** The thread of an application, in which the worker runs. */
export interface BorrowedThread {
  /** The application's own, in addition to those of the settings. */
  readonly plugins: readonly Plugin[];
}

/** Handles the messages of the control plane in a worker thread. */
export class DataPlaneWorker {
  readonly #boot: WorkerBoot;
  readonly #post: (message: FromWorker) => void;
  readonly #log: WorkerLog;
  readonly #host: WorkerPluginHost;
  readonly #snapshot: LiveSnapshot;
  readonly #plugins: PluginRegistry;
  readonly #zone: AddressZone;
  readonly #names: WorkerResolver;
  readonly #usage: UsageRecorder | null;
  readonly #traffic: TrafficSwitch;
  readonly #swaps: PluginCodeSwaps;
  readonly #pieces = new DeltaPieces();
  /** A delta waits for the code of its plugins, or is applied in pieces; later ones wait for it. */
  #loading: Promise<void> | null = null;
  #plane: Promise<DataPlane | null> | null = null;
  #streams: StreamPlane | null = null;
  #finished = false;
  #ready: () => void = () => {};
  #end: () => void = () => {};

  /** `borrowed`: the thread is that of an application; null: the worker has a thread of its own. */
  static async create(
    boot: WorkerBoot,
    post: (message: FromWorker) => void,
    borrowed: BorrowedThread | null = null,
  ): Promise<DataPlaneWorker> {
    const { settings, baseDirectory, code } = boot;
    const registry = await PluginRegistry.open(settings.plugins, baseDirectory, code, borrowed?.plugins);
    return new DataPlaneWorker(boot, post, registry);
  }

  private constructor(boot: WorkerBoot, post: (message: FromWorker) => void, registry: PluginRegistry) {
    this.#boot = boot;
    this.#plugins = registry;
    this.#post = post;
    this.#log = new WorkerLog(boot.settings.logLevel, workerCounters(boot.zones, boot.worker), post);
    this.#zone = new AddressZone(boot.addresses, boot.worker);
    this.#host = new WorkerPluginHost(boot, this.#log, post);
    this.#snapshot = new LiveSnapshot({
      zone: this.#zone,
      upstreamTls: upstreamTls(boot.settings),
      plugins: registry.plugins,
      host: this.#host,
    });
    this.#swaps = new PluginCodeSwaps({
      registry,
      snapshot: this.#snapshot,
      host: this.#host,
      settled: () => this.#settled(),
      post,
      observe: (observation) => this.#observe(observation),
    });
    const usage = boot.usage[boot.worker];
    this.#usage = usage === undefined ? null : new UsageRecorder(usage);
    this.#names = new WorkerResolver(
      (name) => this.#host.resolve(name),
      (weights) => new WeightedSequence(weights),
    );
    this.#traffic = new TrafficSwitch({ zone: this.#zone, log: this.#log, post, plane: () => this.#listening() });
  }

  /** Called once, when the worker listens. */
  onReady(listener: () => void): void {
    this.#ready = listener;
  }

  /** Called when the worker has finished. */
  onEnd(listener: () => void): void {
    this.#end = listener;
  }

  async receive(message: ToWorker): Promise<void> {
    switch (message.type) {
      case 'config':
        this.#receiveDelta(JSON.parse(message.json) as SnapshotDelta, message.zones, message.addresses);
        break;
      case 'delta': {
        const delta = this.#pieces.join(JSON.parse(message.json) as SnapshotDelta, message.more === true);
        if (delta !== null) this.#receiveDelta(delta, message.zones, message.addresses);
        break;
      }
      case 'addresses':
        this.#applyAddresses(message.addresses);
        break;
      case 'names':
        this.#names.changed(message.names);
        break;
      case 'usage-switch':
        this.#post({
          type: 'usage-switched',
          serial: message.serial,
          names: this.#usage?.switchTo(message.half) ?? [],
        });
        break;
      case 'answer':
        this.#host.answered(message.id, message.result);
        break;
      case 'drain':
        await this.#drain(message.delay, message.timeout);
        break;
      case 'hand-over':
        await this.#handOver(message.timeout);
        break;
      case 'ticket-keys':
        // A plane that starts now may have received the old keys.
        (await this.#plane)?.setTicketKeys(message.keys);
        this.#streams?.setTicketKeys(message.keys);
        break;
      case 'settings':
        (await this.#plane)?.change(message.settings);
        this.#streams?.change(message.settings);
        break;
      case 'record-traffic':
        await this.#traffic.set(message.recording);
        break;
      case 'traffic-taken':
        this.#traffic.taken(message.characters);
        break;
      case 'plugin-code':
        await this.#swaps.receive(message);
        break;
      case 'observe-code':
        this.#observe(message.observation);
        break;
      case 'reopen-logs':
        (await this.#plane)?.reopenLogs();
        this.#streams?.reopenLogs();
        reopenFiles();
        break;
      case 'development':
        this.#host.development?.update(message.problems);
        break;
      case 'log-level':
        this.#log.level = message.level;
        break;
    }
  }

  #receiveDelta(delta: SnapshotDelta, zones: ZoneChanges | undefined, addresses: AddressChanges | undefined): void {
    const rows = (delta.upserts.plugins ?? []).filter((row) => row['enabled'] !== false);
    const loading = this.#plugins.load(rows.map((row) => String(row['name'])));
    // The first config need not make requests wait: there are none.
    const large = this.#plane !== null && sizeOf(delta) > maxInPlace;
    if (this.#loading === null && loading === null && !large) {
      this.#apply(delta, zones, addresses);
      return;
    }
    const applied = this.#load(loading, this.#loading).then(async () => {
      if (large) await this.#applyInPieces(delta, zones, addresses);
      else this.#apply(delta, zones, addresses);
      if (this.#loading === applied) this.#loading = null;
    });
    this.#loading = applied;
  }

  /** In order: the upstreams that it names may come with a delta that still waits. */
  #applyAddresses(addresses: AddressChanges): void {
    if (this.#loading === null) this.#snapshot.updateAddresses(addresses);
    else void this.#loading.then(() => this.#snapshot.updateAddresses(addresses));
  }

  async #load(loading: Promise<void> | null, before: Promise<void> | null): Promise<void> {
    await before;
    try {
      await loading;
    } catch (error) {
      // Its instances reject requests, as those of an unknown plugin.
      this.#log.error('loading a plugin failed', { err: error });
    }
  }

  #apply(delta: SnapshotDelta, zones: ZoneChanges | undefined, addresses: AddressChanges | undefined): void {
    this.#host.addZones(zones);
    this.#applied(delta, zones, this.#snapshot.apply(delta, addresses ?? null));
    // No request is accepted before there is a config.
    this.#plane ??= this.#listen();
  }

  async #applyInPieces(
    delta: SnapshotDelta,
    zones: ZoneChanges | undefined,
    addresses: AddressChanges | undefined,
  ): Promise<void> {
    this.#host.addZones(zones);
    this.#applied(delta, zones, await this.#snapshot.applyInPieces(delta, addresses ?? null, nextTurn));
  }

  #applied(delta: SnapshotDelta, zones: ZoneChanges | undefined, failures: readonly SnapshotFailure[]): void {
    this.#host.applied(delta, zones);
    this.#post({ type: 'ack', version: delta.version, failures });
  }

  #observe(observation: CodeObservation | null): void {
    observeCode(observation, this.#boot.worker, () => this.#swaps.returnToOld());
  }

  /** Resolves when no change is being applied. */
  async #settled(): Promise<void> {
    while (this.#loading !== null) await this.#loading;
  }

  /** The plane, once it listens; null: it cannot. */
  listening(): Promise<DataPlane | null> {
    return this.#listening();
  }

  /** Ends at once, where the thread goes on. */
  async close(): Promise<void> {
    await (await this.#plane)?.close();
    await this.#streams?.close();
    if (this.#finished) return;
    this.#traffic.close();
    this.#snapshot.close();
    this.#finishNow();
  }

  async #listening(): Promise<DataPlane | null> {
    await this.#loading;
    return this.#plane;
  }

  async #listen(): Promise<DataPlane | null> {
    const counters = workerCounters(this.#boot.zones, this.#boot.worker);
    const snapshot = { current: this.#snapshot };
    try {
      this.#streams = await this.#listenForStreams(snapshot, counters);
      const plane = await startDataPlane({
        boot: this.#boot,
        snapshot,
        counters,
        log: this.#log,
        names: this.#names,
        zone: this.#zone,
        usage: this.#usage,
        post: this.#post,
      });
      const sockets = [...plane.sockets, ...(this.#streams?.sockets ?? [])];
      this.#post({ type: 'ready', ports: plane.ports, sockets });
      this.#ready();
      return plane;
    } catch (error) {
      await this.#streams?.close();
      this.#post({ type: 'fatal', message: error instanceof Error ? error.message : String(error) });
      this.#end();
      return null;
    }
  }

  /** Null without stream listeners: their code is not even loaded. */
  async #listenForStreams(
    snapshot: { readonly current: LiveSnapshot },
    counters: Float64Array,
  ): Promise<StreamPlane | null> {
    const { settings, ticketKeys, inherited } = this.#boot;
    if (settings.streamListen.length === 0) return null;
    const { startStreams } = await import('../stream/start-streams.ts');
    const shared = { settings, ticketKeys, inherited, snapshot, counters };
    return await startStreams({ ...shared, log: this.#log, names: this.#names, zone: this.#zone }, this.#post);
  }

  async #drain(delay: number, timeout: number): Promise<void> {
    await this.#loading;
    const plane = await this.#plane;
    if (delay > 0) {
      plane?.announceEnd();
      await wait(delay);
    }
    await Promise.all([plane?.drain(timeout), this.#streams?.drain(timeout)]);
    await this.#finish();
  }

  async #handOver(timeout: number): Promise<void> {
    await this.#loading;
    const plane = await this.#plane;
    await Promise.all([plane?.handOver(timeout), this.#streams?.handOver(timeout)]);
    await this.#finish();
  }

  async #finish(): Promise<void> {
    this.#traffic.close();
    await this.#snapshot.drain(pluginDrainTimeout);
    if (this.#usage !== null) this.#post({ type: 'usage-switched', serial: 0, names: this.#usage.switchTo(0) });
    this.#snapshot.close();
    await this.#host.leasesArrived(leaseTimeout);
    this.#finishNow();
  }

  #finishNow(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#host.close();
    this.#end();
  }
}

function upstreamTls({ trustedCertificates, clientCertificate }: Settings): UpstreamTlsDefaults {
  const authorities = trustedCertificates === null ? null : readFileSync(trustedCertificates, 'utf8');
  return { authorities, clientCertificate };
}
