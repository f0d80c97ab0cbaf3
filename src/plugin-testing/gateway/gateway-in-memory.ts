import type { ConfigRows } from '../../control/declarative/contract.ts';
import { AddressBook } from '../../control/publish/address-book.ts';
import { WeightedSequence } from '../../data/balancer/weighted-sequence.ts';
import { type DataPlane, startDataPlane } from '../../data/request/data-plane.ts';
import { LiveSnapshot } from '../../data/snapshot/snapshot.ts';
import { WorkerResolver } from '../../data/upstream/worker-resolver.ts';
import type { MetricFamily } from '../../plugin-sdk/metrics.ts';
import type { PluginLogger } from '../../plugin-sdk/tools.ts';
import type { WorkerBoot } from '../../shared/messages/messages.ts';
import { pluginDrainTimeout, pluginSettings } from '../../shared/messages/plugin-settings.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import { createSerialQueue } from '../../shared/util/time/serial-queue.ts';
import { AddressZone } from '../../shared/zones/address-zone.ts';
import { Counter, workerCounters } from '../../shared/zones/counters.ts';
import { ZoneRegistry } from '../../shared/zones/zone-registry.ts';
import type { GatewayTime } from '../clock/gateway-time.ts';
import { logCollector, type TestLogLine } from '../test-host.ts';
import { BackendNetwork, maxKept } from './backend/backend-network.ts';
import { ClientNetwork } from './client/client-network.ts';
import type { GatewayRequest, RunningRequest, TestAnswer } from './client/contract.ts';
import { lateRequest } from './client/late-request.ts';
import { rawClient } from './client/raw-client.ts';
import { sendHttp1 } from './client/send-http1.ts';
import type { TestConfig } from './config/contract.ts';
import { declaredRows, deltaOf } from './config/declared-rows.ts';
import { type KnownPlugins, knownPlugins } from './config/known-plugins.ts';
import { GatewayHost } from './gateway-host.ts';
import { MemoryStore } from './memory-store.ts';
import type { RawConnection, TestClock, TestGateway, TestGatewayOptions } from './options.ts';
import { recorder, recorderRow, recordPlugin } from './record-plugin.ts';
import { gatewaySettings, testBoot } from './test-boot.ts';

export interface OpenOptions extends TestGatewayOptions {
  readonly time: GatewayTime;
}

/** Puts the data plane together without a worker, and does what the control plane would do for it. */
export class GatewayInMemory implements TestGateway {
  readonly logLines: TestLogLine[] = [];
  readonly counts = new Map<string, number>();
  readonly records: Readonly<Record<string, unknown>>[] = [];
  readonly backend: BackendNetwork;
  readonly clock: TestClock;
  readonly #time: GatewayTime;
  readonly #known: KnownPlugins;
  readonly #boot: WorkerBoot;
  readonly #log: PluginLogger;
  readonly #zones: ZoneRegistry;
  readonly #store: MemoryStore;
  readonly #host: GatewayHost;
  readonly #snapshot: LiveSnapshot;
  readonly #book: AddressBook;
  readonly #clients: ClientNetwork;
  readonly #inTurn = createSerialQueue();
  readonly #byRequest = new Map<string, Readonly<Record<string, unknown>>>();
  #rows: ConfigRows = {};
  #version = 0;
  #plane: DataPlane | null = null;
  #closing: Promise<void> | null = null;

  static async open(options: OpenOptions): Promise<GatewayInMemory> {
    const settings = gatewaySettings(options.settings ?? {});
    const known = await knownPlugins(options.plugins ?? [], settings.untrustedFunctions);
    const gateway = new GatewayInMemory(options, settings, known);
    await gateway.#start();
    return gateway;
  }

  private constructor({ time, background = {}, onRequest }: OpenOptions, settings: Settings, known: KnownPlugins) {
    this.#time = time;
    this.clock = time.clock;
    this.#known = known;
    this.#log = logCollector(this.logLines);
    this.#boot = testBoot(settings);
    this.backend = new BackendNetwork(onRequest, (work) => time.run(work));
    const plugins = new Map([...known.plugins, [recorder, recordPlugin((record) => this.#keep(record))] as const]);
    this.#zones = new ZoneRegistry(plugins);
    this.#store = new MemoryStore({
      entities: known.entities,
      now: () => Date.now(),
      written: (rows) =>
        this.#host.applied({ version: ++this.#version, full: false, upserts: {}, removes: {}, touched: rows }),
    });
    this.#host = new GatewayHost({
      log: this.#log,
      settings: pluginSettings(this.#boot.settings),
      store: this.#store,
      zones: this.#zones,
      counts: this.counts,
      background: (plugin, message) => (Object.hasOwn(background, plugin) ? background[plugin]?.(message) : null),
    });
    const zone = new AddressZone(this.#boot.addresses, 0);
    this.#snapshot = new LiveSnapshot({ zone, plugins, host: this.#host });
    const { names } = this.backend;
    const address = (name: string) => ({ ip: names.ipOf(name), port: null, weight: null, name });
    this.#book = new AddressBook(new AddressZone(this.#boot.addresses, -1), {
      get: (name) => ({ addresses: [address(name)], error: null }),
      watch() {},
      unwatch() {},
    });
    this.#clients = new ClientNetwork(time);
  }

  async #start(): Promise<void> {
    // No request is accepted before there is a config; the first one contains the recorder.
    this.#plane = await startDataPlane({
      boot: this.#boot,
      snapshot: { current: this.#snapshot },
      counters: workerCounters(this.#boot.zones, 0),
      log: this.#log,
      names: new WorkerResolver(
        async (name) => ({
          addresses: [{ ip: this.backend.names.ipOf(name), port: null, weight: null, name }],
          error: null,
        }),
        (weights) => new WeightedSequence(weights),
      ),
      zone: new AddressZone(this.#boot.addresses, 0),
      usage: null,
      post: () => {},
      transport: {
        listen: (parts) => this.#clients.listen(parts),
        open: (address, protocol) => this.backend.open(address, protocol),
      },
    });
  }

  apply(config: TestConfig): Promise<void> {
    return this.#inTurn(() => this.#time.run(() => this.#apply(config)));
  }

  async #apply(config: TestConfig): Promise<void> {
    const rows = await declaredRows(config, this.#known.entities, this.#rows, Date.now());
    const first = this.#version === 0;
    const change = deltaOf(this.#rows, rows, ++this.#version, first);
    const plugins = [...(change.upserts.plugins ?? []), ...(first ? [recorderRow] : [])];
    const delta = { ...change, upserts: { ...change.upserts, plugins } };
    this.#rows = rows;
    this.#store.declared = rows;
    this.#zones.change(delta);
    const failures = this.#snapshot.apply(delta, this.#book.change(delta));
    this.#host.applied(delta);
    for (const { entity, id, reason } of failures)
      this.#log.error('an entity is not part of the config', { entity, id, reason });
  }

  start(request: GatewayRequest | string = {}): RunningRequest {
    const given: GatewayRequest = typeof request === 'string' ? { path: request } : request;
    const { clientIp, scheme, http2 = false } = given;
    const serverName = scheme === 'https' ? 'test.example' : '';
    const parts = {
      connect: () => this.#clients.connect({ clientIp, scheme, http2, serverName }),
      recordOf: (id: string | null) => (id === null ? null : (this.#byRequest.get(id) ?? null)),
      why: () => this.#time.why(),
    };
    return http2
      ? lateRequest(import('./client/send-http2.ts').then(({ sendHttp2 }) => sendHttp2(given, parts)))
      : sendHttp1(given, parts);
  }

  request(request: GatewayRequest | string = {}): Promise<TestAnswer> {
    return this.start(request).answer;
  }

  connect({ clientIp }: { readonly clientIp?: string } = {}): RawConnection {
    return rawClient(this.#clients.connect({ clientIp }));
  }

  async metrics(name: string): Promise<readonly MetricFamily[]> {
    const plugin = this.#known.plugins.get(name);
    const metrics = (await plugin?.loadMetrics()) ?? null;
    if (plugin === undefined || metrics === null) return [];
    const instances = (this.#rows['plugins'] ?? [])
      .filter((row) => row['name'] === name && row['enabled'] !== false)
      .map(({ id, config }) => ({ id, config: config as Readonly<Record<string, unknown>> }));
    return this.#time.run(() =>
      metrics({
        instances: () => instances,
        zone: (instanceId, zone) => this.#zones.find(instanceId, zone),
        background: (message) => this.#host.background(name, message),
        upstreams: () => [],
      }),
    );
  }

  numbers(): Readonly<Record<string, number>> {
    const row = workerCounters(this.#boot.zones, 0);
    return Object.fromEntries(Object.entries(Counter).map(([name, at]) => [name, row[at] ?? 0]));
  }

  clear(): void {
    this.logLines.length = 0;
    this.records.length = 0;
    this.#byRequest.clear();
    this.backend.clear();
  }

  /** Timers that have not fired, for the leak check. */
  get timers(): readonly { readonly stack: string | null }[] {
    return this.#time.timers();
  }

  /** Each timer keeps the stack of the code that sets it, from now on. */
  traceTimers(): void {
    this.#time.traceTimers();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    await this.#inTurn(async () => {});
    this.#clients.close();
    await this.#time.run(() => this.#plane?.close());
    this.backend.close();
    await this.clock.settle();
    await this.clock.until(this.#time.run(() => this.#snapshot.drain(pluginDrainTimeout)));
    this.#time.run(() => this.#snapshot.close());
    await this.clock.settle();
    this.#time.end();
  }

  #keep(record: Readonly<Record<string, unknown>>): void {
    this.records.push(record);
    this.#byRequest.set(requestIdOf(record), record);
    if (this.records.length > maxKept) this.#byRequest.delete(requestIdOf(this.records.shift() ?? {}));
  }
}

function requestIdOf(record: Readonly<Record<string, unknown>>): string {
  return (record['request'] as { readonly id?: string } | undefined)?.id ?? '';
}
