import { X509Certificate } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import type {
  AdminDependencies,
  AdminOptions,
  ReadinessThreadOptions,
  RunningListener,
  ZoneFacts,
} from '../control/admin/contract.ts';
import { createAdminParts, startAdmin, startDashboard, startStatus } from '../control/admin/start-admin.ts';
import { TemporaryLogLevel } from '../control/admin/temporary-log-level.ts';
import { configHash } from '../control/hybrid/config-hash.ts';
import type { ControlPlaneServer } from '../control/hybrid/contract.ts';
import { knownDataPlanes } from '../control/hybrid/known-data-planes.ts';
import type { HybridFacts } from '../control/metrics/hybrid-families.ts';
import type { Store } from '../control/store/store.ts';
import { createNodeFacts } from '../control/supervisor/node-facts.ts';
import type { Plugin } from '../plugin-sdk/define-plugin.ts';
import { failureFields } from '../shared/plugin-loader/failure-fields.ts';
import { logLevels } from '../shared/settings/definitions/general.ts';
import type { LogLevel, Settings } from '../shared/settings/settings.ts';
import { controlPlaneMeters, MeterPhase, readPluginMeter } from '../shared/zones/plugin-meter.ts';
import { NodeVitals } from '../shared/zones/worker-vitals.ts';
import { zoneFill } from '../shared/zones/zone-kinds.ts';
import type { ZoneRegistry } from '../shared/zones/zone-registry.ts';
import { version } from '../version.ts';
import type { ConfiguredNode } from './configure-node.ts';
import { openDescriptors } from './observability/descriptor-watch.ts';
import { nodeOverview } from './observability/node-overview.ts';
import { NodeReports } from './observability/node-reports.ts';

/** Bytes that fit into a socket path on every system. */
const maxSocketPath = 100;

/** The workers, the Admin API and the status API listen. */
export interface ListeningNode extends ConfiguredNode {
  readonly reports: NodeReports;
  readonly listeners: readonly RunningListener[];
  /** The listener for data planes; null: the node is no control plane. */
  readonly dataPlanes: ControlPlaneServer | null;
}

/**
 * Call it when the workers listen. `listeners`: what was started before. Rejects when an address cannot be listened on.
 */
export async function listenNode(node: ConfiguredNode, listeners: NodeListeners | null): Promise<ListeningNode> {
  const dataPlanes = await startDataPlaneListener(node);
  const started = listeners ?? new NodeListeners(node, dataPlanes);
  // A data plane has no Admin API.
  const admin = node.options.settings.role === 'data_plane' ? [] : await started.startAdmin();
  const status = await started.startStatus();
  const { reports } = started;
  // The process that this one replaces reports until then, with the same id.
  const { predecessor } = node.options;
  if (predecessor === null) reports.start();
  else void predecessor.released.then(() => reports.start());
  return { ...node, reports, listeners: [...admin, status], dataPlanes };
}

/** The listeners of the main thread. */
export class NodeListeners {
  readonly reports: NodeReports;
  readonly #node: ConfiguredNode;
  readonly #dependencies: AdminDependencies;
  readonly #options: AdminOptions;
  #status: Promise<RunningListener> | null = null;

  constructor(node: ConfiguredNode, dataPlanes: ControlPlaneServer | null = null) {
    this.#node = node;
    this.reports = new NodeReports(node);
    node.shutdown.add('the control plane', () => this.reports.stop());
    this.#dependencies = dependenciesOf(node, this.reports, dataPlanes);
    this.#options = adminOptionsOf(node);
  }

  /** The Admin API, the dashboard in front of it, and the portal. */
  async startAdmin(): Promise<readonly RunningListener[]> {
    const { adminGuiListen, portalListen } = this.#dependencies.settings;
    const options = { ...this.#options, pluginAdminRoutes: await pluginAdminRoutes(this.#node.data.plugins) };
    const parts = createAdminParts(this.#dependencies, options);
    const listeners: RunningListener[] = [];
    const starts: (readonly [addresses: number, start: () => Promise<RunningListener>])[] = [
      [1, () => startAdmin(this.#dependencies, options, parts)],
      [adminGuiListen.length, () => startDashboard(this.#dependencies, options, parts)],
      [portalListen.length, () => this.#startPortal()],
    ];
    for (const [addresses, start] of starts) {
      // The code of a listener that is off is not even loaded.
      if (addresses === 0) continue;
      const listener = await start();
      this.#node.shutdown.addListener(listener);
      listeners.push(listener);
    }
    return listeners;
  }

  async #startPortal(): Promise<RunningListener> {
    const { startPortal } = await import('../control/portal/start-portal.ts');
    return startPortal(this.#dependencies, this.#options);
  }

  /** The second call returns the listener of the first. */
  startStatus(): Promise<RunningListener> {
    this.#status ??= startStatus(this.#dependencies, this.#options).then((listener) => {
      this.#node.shutdown.addListener(listener);
      return listener;
    });
    return this.#status;
  }
}

function dependenciesOf(
  node: ConfiguredNode,
  reports: NodeReports,
  dataPlanes: ControlPlaneServer | null,
): AdminDependencies {
  const { options, memory, supervisor, logs, descriptors } = node;
  const { data, zones, addresses, publisher, metrics, analytics, traffic } = node;
  const { settings, nodeId } = options;
  const { dns, health } = addresses;
  const { store } = data;
  const facts = createNodeFacts({
    nodeId,
    counters: memory.counters,
    vitals: memory.vitals,
    supervisor,
    zones: () => zoneFacts(zones),
    pluginCounts: () => node.pluginCounts.totals(),
  });
  const vitals = new NodeVitals(memory.vitals);
  const known = dataPlanes === null ? null : knownBy(dataPlanes, store, settings);
  metrics.addCore({
    ...hybridFacts(settings, known),
    node: facts,
    counters: memory.counters,
    linesLost: () => logs.dropped,
    plugins: () => [...data.plugins.keys()].map((name) => [name, readPluginMeter(memory.pluginMeter, name)] as const),
    workers: () => ({
      wanted: settings.workers,
      running: supervisor.running().map(({ number, loop: { idle, active } }) => {
        return { worker: number, idle, active, delay: vitals.loopDelay(number) };
      }),
    }),
    inFlight: () => reports.load().inFlight,
    restarts: node.restarts,
    descriptors: () => ({
      open: openDescriptors(),
      limit: descriptors.limit,
      exhaustions: descriptors.exhaustions,
    }),
    stuck: () => supervisor.stuck,
    ping: () => store.ping(),
    dns: () => dns.facts(),
    config: () => ({
      version: publisher.position.version,
      failures: publisher.failures.size,
      age: reports.configAge(),
    }),
    analytics: () => analytics?.ledger ?? null,
  });
  return {
    settings,
    store,
    publisher,
    node: facts,
    nodes: reports,
    dns: () => dns.facts(),
    health,
    metrics,
    declarative: node.declarative?.loader ?? null,
    analytics,
    traffic,
    whatIf: node.whatIf,
    pluginReload: node.pluginReload,
    configHash: settings.role === 'data_plane' ? () => configHash(publisher.position) : null,
    dataPlanes: known,
    closing: node.shutdown.closing,
    requestKey: node.requestKey,
    overview: nodeOverview(node, () => reports.load().inFlight),
  };
}

function knownBy(server: ControlPlaneServer, store: Store, { dataPlanePurgeDelay: purgeDelay }: Settings) {
  return () => knownDataPlanes({ store, connected: () => server.dataPlanes(), purgeDelay });
}

function hybridFacts({ role, hybrid }: Settings, dataPlanes: AdminDependencies['dataPlanes']): HybridFacts {
  if (dataPlanes !== null) return { dataPlanes };
  if (role !== 'data_plane' || hybrid === null) return {};
  return { clusterCertificateExpiry: new X509Certificate(hybrid.cert).validToDate.getTime() };
}

function adminOptionsOf(node: ConfiguredNode): AdminOptions {
  const { options, logs, data, background, messages, zones } = node;
  const readinessThread = readinessThreadOptions(node);
  const meters = controlPlaneMeters(node.memory.pluginMeter);
  return {
    entities: data.entities,
    catalog: data.catalog,
    plugins: data.plugins,
    log: logs.admin,
    pluginAdminRoutes: new Map(),
    pluginFailed(plugin, error) {
      meters.of(plugin).failed(MeterPhase.adminRoutes);
      logs.node.error('plugin failed', { plugin, phase: 'adminRoutes', ...failureFields(error) });
    },
    pluginBackground: (plugin, message) => background.handle(plugin, message),
    pluginBroadcast: (plugin, message) => messages.send(plugin, message),
    pluginZone: (instance, name) => zones.find(instance, name),
    ...(readinessThread === null ? {} : { readinessThread }),
    inherited: options.inherited,
    ...sharedLogLevel(node),
  };
}

/** Paths that plugins add to the Admin API, by plugin. Nothing before it needs them. */
async function pluginAdminRoutes(plugins: ReadonlyMap<string, Plugin>): Promise<AdminOptions['pluginAdminRoutes']> {
  const loaded = await Promise.all(
    [...plugins.values()].map(async (plugin) => [plugin.name, await plugin.loadAdminRoutes()] as const),
  );
  return new Map(loaded.flatMap(([name, routes]) => (routes === null ? [] : [[name, routes] as const])));
}

/** Null: the node is no control plane. */
async function startDataPlaneListener(node: ConfiguredNode): Promise<ControlPlaneServer | null> {
  const { options, data, publisher, calls, logs, shutdown } = node;
  const { settings, nodeId, inherited } = options;
  const { role, hybrid, clusterListen: listen } = settings;
  if (role !== 'control_plane' || hybrid === null) return null;
  const { startControlPlaneServer } = await import('../control/hybrid/server/start-control-plane-server.ts');
  const { store, entities } = data;
  const server = await startControlPlaneServer({
    ...{ nodeId, hostname: hostname(), version },
    ...{ listen, inherited, settings: hybrid },
    ...{ store, entities, publisher, cached: calls.cached, log: logs.node },
  });
  shutdown.add('the control plane', () => server.close());
  return server;
}

/** The level of the error log, which another node may change, too. */
function sharedLogLevel({
  logs,
  supervisor,
  messages,
}: ConfiguredNode): Pick<AdminOptions, 'logLevel' | 'broadcastLogLevel'> {
  const logLevel = new TemporaryLogLevel(logs.level((level) => supervisor.broadcast({ type: 'log-level', level })));
  messages.on('@log-level', (message) => {
    const { level, timeout } = message as { readonly level: LogLevel; readonly timeout: number };
    // Another version of the gateway may have sent it.
    if (logLevels.includes(level) && Number.isFinite(timeout)) logLevel.change(level, timeout);
  });
  return {
    logLevel,
    broadcastLogLevel: async (level, timeout) => void (await messages.send('@log-level', { level, timeout })),
  };
}

/** Null: the control plane serves the status API itself. */
function readinessThreadOptions({ options, memory, priority }: ConfiguredNode): ReadinessThreadOptions | null {
  const { settings, compileCache, application } = options;
  if (application !== null) return null;
  // The process that this one replaces has its own.
  const socketPath = resolve(settings.prefix, `status-${process.pid}.sock`);
  if (options.predecessor === null) removeSockets(settings.prefix);
  // Logged requests are served by the control plane, which writes the log.
  if (settings.statusAccessLog !== 'off') return null;
  if (process.platform === 'win32' || Buffer.byteLength(socketPath) > maxSocketPath) return null;
  const startThread = <T>(start: () => T): T => priority.startThread(start);
  return { socketPath, vitals: memory.vitals, compileCache, startThread };
}

/** Those of processes that were killed. */
function removeSockets(prefix: string): void {
  for (const name of readdirSync(prefix)) {
    if (/^status(?:-\d+)?\.sock$/.test(name)) rmSync(resolve(prefix, name), { force: true });
  }
}

function zoneFacts(zones: ZoneRegistry): readonly ZoneFacts[] {
  return zones.list().map(({ plugin, name, kind, memory }) => ({ plugin, name, kind, ...zoneFill(kind, memory) }));
}
