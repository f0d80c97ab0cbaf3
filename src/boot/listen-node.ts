import { readdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import type {
  AdminDependencies,
  AdminOptions,
  ReadinessThreadOptions,
  RunningListener,
  ZoneFacts,
} from '../control/admin/contract.ts';
import { startAdmin, startStatus } from '../control/admin/start-admin.ts';
import { createNodeFacts } from '../control/supervisor/node-facts.ts';
import { NodeVitals } from '../shared/zones/worker-vitals.ts';
import { zoneFill } from '../shared/zones/zone-kinds.ts';
import type { ZoneRegistry } from '../shared/zones/zone-registry.ts';
import type { ConfiguredNode } from './configure-node.ts';
import { openDescriptors } from './observability/descriptor-watch.ts';
import { NodeReports } from './observability/node-reports.ts';

/** Bytes that fit into a socket path on every system. */
const maxSocketPath = 100;

/** The workers, the Admin API and the status API listen. */
export interface ListeningNode extends ConfiguredNode {
  readonly reports: NodeReports;
  readonly listeners: readonly RunningListener[];
}

/** Call it when the workers listen. Rejects when an address cannot be listened on. */
export async function listenNode(node: ConfiguredNode): Promise<ListeningNode> {
  const { options, memory, supervisor, shutdown, logs, descriptors } = node;
  const { data, zones, addresses, publisher, metrics, analytics, background } = node;
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
  const reports = new NodeReports(node);
  shutdown.add('the control plane', () => reports.stop());
  const vitals = new NodeVitals(memory.vitals);
  metrics.addCore({
    node: facts,
    counters: memory.counters,
    linesLost: () => logs.dropped,
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
  const declarative = node.declarative?.loader ?? null;
  const dependencies: AdminDependencies = {
    settings,
    store,
    publisher,
    node: facts,
    nodes: reports,
    dns: () => dns.facts(),
    health,
    metrics,
    declarative,
    analytics,
  };
  const readinessThread = readinessThreadOptions(node);
  const admin: AdminOptions = {
    entities: data.entities,
    catalog: data.catalog,
    plugins: data.plugins,
    log: logs.admin,
    pluginAdminRoutes: data.pluginAdminRoutes,
    pluginBackground: (plugin, message) => background.handle(plugin, message),
    pluginZone: (instance, name) => zones.find(instance, name),
    ...(readinessThread === null ? {} : { readinessThread }),
    inherited: options.inherited,
    logLevel: logs.level((level) => supervisor.broadcast({ type: 'log-level', level })),
  };
  const adminListener = await startAdmin(dependencies, admin);
  shutdown.addListener(adminListener);
  const statusListener = await startStatus(dependencies, admin);
  shutdown.addListener(statusListener);
  // The process that this one replaces reports until then, with the same id.
  const { predecessor } = options;
  if (predecessor === null) reports.start();
  else void predecessor.released.then(() => reports.start());
  return { ...node, reports, listeners: [adminListener, statusListener] };
}

/** Null: the control plane serves the status API itself. */
function readinessThreadOptions({ options, memory, priority }: ConfiguredNode): ReadinessThreadOptions | null {
  const { settings, compileCache } = options;
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
