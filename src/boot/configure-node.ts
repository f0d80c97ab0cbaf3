import type { DataPlaneStore } from '../control/hybrid/contract.ts';
import { LeaseDesk } from '../control/limits/lease-desk.ts';
import { ExpiringCertificates } from '../control/overview/expiring-certificates.ts';
import { Publisher } from '../control/publish/publisher.ts';
import { pluginCallFields } from '../control/supervisor/plugin-call-fields.ts';
import type { Supervisor } from '../control/supervisor/supervisor.ts';
import type { TrafficDesk } from '../control/traffic/traffic-desk.ts';
import type { Analytics } from '../control/usage/analytics.ts';
import type { WhatIf } from '../control/what-if/what-if.ts';
import type { ToWorker } from '../shared/messages/messages.ts';
import { pluginSettings } from '../shared/messages/plugin-settings.ts';
import { awaitWithTimeout } from '../shared/util/time/await-with-timeout.ts';
import { controlPlaneMeters } from '../shared/zones/plugin-meter.ts';
import { recoverMemory } from '../shared/zones/zone-kinds.ts';
import { ZoneRegistry } from '../shared/zones/zone-registry.ts';
import { type NodeAddresses, openAddresses } from './addresses/node-addresses.ts';
import { BackgroundParts } from './config/background-parts.ts';
import { backgroundStore } from './config/background-store.ts';
import { ConfigCopy, positionOf } from './config/config-copy.ts';
import type { DeclarativeParts } from './config/declarative-parts.ts';
import { ExpiryJob } from './config/expiry-job.ts';
import { type FirstConfig, loadConfig } from './config/load-config.ts';
import { loadDataPlaneConfig } from './config/load-data-plane-config.ts';
import { NodeMessages } from './config/node-messages.ts';
import { type OpenedStore, openStore } from './config/open-store.ts';
import { PluginReloads } from './config/plugin-reloads.ts';
import { pluginUsers } from './config/plugin-users.ts';
import { WorkerCalls } from './config/worker-calls.ts';
import { forWorkers } from './node-core.ts';
import { certificateSettings } from './observability/certificate-settings.ts';
import { openAnalytics } from './observability/node-analytics.ts';
import { NodeMetrics } from './observability/node-metrics.ts';
import { openTraffic, openWhatIf } from './observability/node-traffic.ts';
import type { OpenedNode } from './open-node.ts';
import { givesWay } from './process/give-way.ts';

/** Milliseconds for leases that workers have given back. */
const returnTimeout = 1000;

/** Everything that a config needs is there; `loadConfig` sends the workers theirs. */
export interface ConfiguredNode extends OpenedNode {
  readonly data: OpenedStore;
  readonly zones: ZoneRegistry;
  readonly addresses: NodeAddresses;
  readonly publisher: Publisher;
  readonly metrics: NodeMetrics;
  readonly certificates: ExpiringCertificates;
  readonly background: BackgroundParts;
  readonly messages: NodeMessages;
  /** Null: there is a database. */
  readonly declarative: DeclarativeParts | null;
  /** Null: the settings switch it off. */
  readonly analytics: Analytics | null;
  /** Null: the node has no Admin API, or no traffic. */
  readonly traffic: TrafficDesk | null;
  readonly whatIf: WhatIf | null;
  readonly calls: WorkerCalls;
  readonly pluginReload: PluginReloads;
  /**
   * From then on the workers follow the changes of the config. `waiting`: a data plane without any config waits for its control plane,
   * or no longer. Rejects when there is no usable config.
   */
  readonly loadConfig: (waiting: (isWaiting: boolean) => Promise<void>) => Promise<FirstConfig>;
}

/** Rejects when the node begins to stop while the store is opened. */
export async function configureNode(node: OpenedNode): Promise<ConfiguredNode> {
  const { options, memory, supervisor, shutdown } = node;
  const { settings, nodeId } = options;
  const log = node.logs.node;
  const copy = new ConfigCopy(settings.prefix, log);
  const isDataPlane = settings.role === 'data_plane';
  const saved = isDataPlane ? await copy.read() : null;
  const { baseDirectory } = options;
  const position = saved === null ? null : positionOf(saved);
  const { application } = options;
  const data = await openStore({
    ...{ settings, baseDirectory, nodeId, position, log },
    // In an application the requests are carried by this thread, too, so a rest would delay them.
    ...(application === null ? { giveWay: givesWay(memory.counters) } : { application }),
  });
  const { store, shared, link, entities, plugins } = data;
  const carriesTraffic = settings.role !== 'control_plane';
  if (shutdown.begun.aborted) {
    await store.close();
    throw new Error('the node is stopping');
  }
  const leases = new LeaseDesk(store);
  shutdown.add('the store', async () => {
    await awaitWithTimeout(leases.settled(), returnTimeout);
    await store.close();
  });

  const { predecessor } = options;
  const zones = new ZoneRegistry(plugins, settings.workers, (zone) => predecessor?.restore(zone, log));
  const zone = (instance: string, name: string) => zones.find(instance, name);
  const broadcast = (message: ToWorker) => supervisor.broadcast(message);
  const addresses = openAddresses({ settings, nodeId, memory: memory.addresses, store, log, broadcast });
  const { dns, book, names, health } = addresses;
  shutdown.add('the control plane', () => {
    dns.close();
    health.monitor.close();
  });
  const metrics = new NodeMetrics({
    plugins,
    zone,
    background: (plugin, message) => background.handle(plugin, message),
    log,
    book,
    health,
  });
  const certificates = new ExpiringCertificates(certificateSettings(() => options.settings));
  const calls = new WorkerCalls({
    settings,
    opened: data,
    log,
    publisher: () => publisher,
    lease: (requests) => leases.lease(requests),
    resolve: (name) => names.resolve(name),
    background: (plugin, message) => background.handle(plugin, message),
  });
  shutdown.add('the copy of consumers and credentials', () => calls.close());
  const meters = controlPlaneMeters(memory.pluginMeter);
  const background: BackgroundParts = new BackgroundParts({
    plugins,
    store: backgroundStore({
      store,
      shared,
      entities,
      hashKeys: settings.hashKeys,
      published: (version) => publisher.published(version),
    }),
    settings: pluginSettings(settings),
    zone,
    metrics: () => metrics.collect(),
    count: (plugin, name, by) => node.pluginCounts.add([[plugin, name, by]]),
    broadcast: (plugin, message) => messages.send(plugin, message),
    nodeId,
    log,
    meters,
  });
  const messages = new NodeMessages({ store, shared, receivers: background });
  shutdown.closing.addEventListener('abort', () => background.abort());
  shutdown.add('background tasks of plugins', () => background.stop());
  const publisher: Publisher = new Publisher({
    store,
    workers: supervisor,
    log,
    ...(carriesTraffic ? { zones, addresses: book } : {}),
    recheck: () => calls.recheck(),
    onDelta(delta) {
      calls.changed(delta);
      background.configChanged(delta);
      messages.configChanged(delta);
      metrics.configChanged(delta);
      certificates.configChanged(delta);
      if (!carriesTraffic) return;
      names.configChanged(delta);
      health.configChanged(delta);
    },
  });
  shutdown.add('the copy of the config', () => publisher.close());
  const analytics = await openAnalytics({ settings, nodeId, store, supervisor, memories: memory.usage, log });
  // Two processes must not write the same rows.
  if (predecessor === null) analytics?.start();
  else void predecessor.released.then(() => analytics?.start());
  if (analytics !== null) shutdown.add('analytics', () => analytics.stop());
  const traffic = application === null ? await openTraffic(settings, supervisor) : null;
  if (traffic !== null) shutdown.add('the control plane', () => traffic.close());
  const whatIf = await openWhatIf(traffic, {
    settings: forWorkers(settings),
    baseDirectory,
    nodeId,
    compileCache: options.compileCache,
    code: () => node.pluginCode.codes,
    config: () => publisher.config(),
    lookup: (call) => calls.handler.handle(call),
  });
  const pluginReload = new PluginReloads({
    code: node.pluginCode,
    users: pluginUsers({ data, zones, background, metrics, publisher }),
    workers: supervisor,
    canary: {
      counters: memory.counters,
      workers: settings.workers,
      running: () => supervisor.running(),
      stopping: shutdown.begun,
    },
    log,
  });
  // A data plane leaves that to its control plane.
  if (!isDataPlane) {
    const expiry = new ExpiryJob(store, log, settings);
    shutdown.add('the control plane', () => expiry.stop());
  }
  if (link !== null) acknowledge(publisher, supervisor, link);

  node.workerReports.handleWith({
    nameCall: (call) => pluginCallFields(call, publisher.config()),
    onFailures: (failures) => publisher.noteFailures(failures),
    onCall: (call) => calls.handler.handle(call),
    onHealth: (change) => health.monitor.workerFlipped(change),
    onPluginCode: (_, message) => pluginReload.answered(message),
    onTraffic: (worker, message) => traffic?.received(worker, message),
    onUsageTurned: (worker, { serial, names: used }) => analytics?.turned(worker, serial, used),
    onExit(worker) {
      for (const { kind, memory: shared } of zones.list()) recoverMemory(kind, shared, worker);
      analytics?.ended(worker);
      pluginReload.ended(worker);
    },
  });
  const declarative =
    settings.database === 'off' && !isDataPlane ? await declarativeParts(node, data, publisher) : null;
  if (declarative !== null) shutdown.add('the control plane', () => declarative.source.close());
  const restoreLookups = () => calls.restore();
  if (predecessor !== null) {
    await predecessor.fetchCounters(log);
    health.monitor.restore(predecessor.unhealthy);
  }
  const handover = predecessor !== null;
  const common = { store, publisher, log, copy, restoreLookups, signal: shutdown.begun };
  const listening = supervisor.ready();
  return {
    ...node,
    ...{
      data,
      zones,
      addresses,
      publisher,
      metrics,
      certificates,
      background,
      messages,
      declarative,
      analytics,
      traffic,
      whatIf,
      calls,
      pluginReload,
    },
    loadConfig: (waiting) =>
      saved === null
        ? loadConfig({ ...common, declarative, handover, listening })
        : loadDataPlaneConfig({ ...common, saved, waiting }),
  };
}

async function declarativeParts(...of: [OpenedNode, OpenedStore, Publisher]): Promise<DeclarativeParts> {
  const { createDeclarativeParts } = await import('./config/declarative-parts.ts');
  return createDeclarativeParts(...of);
}

/** Milliseconds for the workers to apply a change; later it is not reported, and the next one is. */
const acknowledgeLimit = 10_000;

/** Reports to the control plane which version all workers have. */
function acknowledge(publisher: Publisher, workers: Supervisor, link: DataPlaneStore): void {
  publisher.onStored((event) => {
    const { version } = event.kind === 'changes' ? event.batch.position : event.position;
    void workers.settled(publisher.sent, acknowledgeLimit).then((settled) => {
      if (settled) link.acknowledge(version);
    });
  });
}
