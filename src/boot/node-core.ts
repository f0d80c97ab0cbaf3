import { randomBytes } from 'node:crypto';
import { PluginCounts } from '../control/metrics/plugin-counts.ts';
import { LimitHits } from '../control/overview/limit-hits.ts';
import { NodePluginCode } from '../control/plugin-reload/node-plugin-code.ts';
import { Supervisor } from '../control/supervisor/supervisor.ts';
import type { ThreadSource } from '../control/supervisor/worker-threads.ts';
import type { Settings } from '../shared/settings/settings.ts';
import type { InheritedDescriptors } from '../shared/sockets/listening-sockets.ts';
import { TicketKeys } from '../shared/tls/ticket-keys.ts';
import { createRequestMeter } from '../shared/usage/request-meter.ts';
import { type AddressZoneMemory, clearInFlight, createAddressZone } from '../shared/zones/address-zone.ts';
import { createCounters } from '../shared/zones/counters.ts';
import { createPluginMeter } from '../shared/zones/plugin-meter.ts';
import { createVitals } from '../shared/zones/worker-vitals.ts';
import { type DevelopmentOptions, ShownProblems } from './development/shown-problems.ts';
import type { Application } from './embedded/application.ts';
import type { Predecessor } from './handover/predecessor.ts';
import type { DescriptorSupply } from './listeners/descriptor-supply.ts';
import { distributeDescriptors } from './listeners/inherited-sockets.ts';
import { NodeShutdown } from './node-shutdown.ts';
import { usageMemories } from './observability/node-analytics.ts';
import { ControlPlanePriority } from './process/control-plane-priority.ts';
import { ReloadSteps } from './reload/reload-steps.ts';
import { WorkerReports } from './worker-reports.ts';

export interface NodeOptions {
  readonly settings: Settings;
  readonly nodeId: string;
  readonly compileCache: string;
  /** Where relative names of plugins start. */
  readonly baseDirectory: string;
  /** Uncaught exceptions are logged rather than ending the process. */
  readonly ownsProcess: boolean;
  /** Descriptors of sockets that listen already on addresses of the settings. */
  readonly inherited: InheritedDescriptors;
  /** Keys of inherited sockets to which no others can be added. */
  readonly exclusive: ReadonlySet<string>;
  /** Descriptors of those for workers; null: there are none. */
  readonly supply: DescriptorSupply | null;
  /** The running node that this one replaces; null: none. */
  readonly predecessor: Predecessor | null;
  /** Threads that load the code of workers already; null: none. */
  readonly threads: ThreadSource | null;
  /** The application that the node runs in; null: the node has the process for itself. */
  readonly application: Application | null;
  /** Only with `sluicegate dev`. */
  readonly development?: DevelopmentOptions;
}

/** Memory that the workers share with the control plane. */
export interface NodeMemory {
  readonly counters: SharedArrayBuffer;
  readonly vitals: SharedArrayBuffer;
  readonly addresses: AddressZoneMemory;
  /** Where each worker counts requests, by its number; empty: usage is not counted. */
  readonly usage: readonly SharedArrayBuffer[];
  /** Where all workers count what the overview shows. */
  readonly meter: SharedArrayBuffer;
  /** Where each thread counts what its plugins did. */
  readonly pluginMeter: SharedArrayBuffer;
}

/** What a node has at every stage. */
export interface NodeCore {
  readonly options: NodeOptions;
  readonly memory: NodeMemory;
  readonly supervisor: Supervisor;
  readonly workerReports: WorkerReports;
  readonly pluginCode: NodePluginCode;
  readonly pluginCounts: PluginCounts;
  readonly limitHits: LimitHits;
  readonly ticketKeys: TicketKeys;
  /** Proves to the workers that the control plane sends a request. Never leaves the process, and is new at each start. */
  readonly requestKey: string;
  readonly priority: ControlPlanePriority;
  /** Workers that ended and were replaced. */
  readonly restarts: () => number;
  readonly shutdown: NodeShutdown;
  readonly reload: ReloadSteps;
  /** What workers that start later receive; null: this is not `sluicegate dev`. */
  readonly development: ShownProblems | null;
}

/** Nothing runs yet, so there is nothing to stop. */
export function createNodeCore(options: NodeOptions): NodeCore {
  const { settings, nodeId, baseDirectory, compileCache } = options;
  const { workers } = settings;
  const memory: NodeMemory = {
    counters: createCounters(workers),
    vitals: createVitals(workers),
    // A control plane reads it as if it had a worker.
    addresses: createAddressZone(Math.max(1, workers)),
    usage: usageMemories(settings),
    meter: createRequestMeter(workers),
    pluginMeter: createPluginMeter(workers),
  };
  const workerReports = new WorkerReports();
  const pluginCounts = new PluginCounts();
  const limitHits = new LimitHits();
  const ticketKeys = new TicketKeys(options.predecessor?.welcome.ticketKeys);
  const priority = new ControlPlanePriority(memory.vitals);
  const requestKey = randomBytes(32).toString('hex');
  const development = options.development === undefined ? null : new ShownProblems(options.development);
  const pluginCode = new NodePluginCode({
    settings,
    baseDirectory,
    compileCache,
    startThread: (start) => priority.startThread(start),
  });
  let restarts = 0;
  const supervisor = new Supervisor({
    boot: {
      nodeId,
      settings: forWorkers(settings),
      baseDirectory,
      compileCache,
      zones: memory.counters,
      vitals: memory.vitals,
      addresses: memory.addresses,
      requestKey,
      ticketKeys: ticketKeys.current,
      usage: memory.usage,
      meter: memory.meter,
      pluginMeter: memory.pluginMeter,
      ...(development && { development: development.boot }),
    },
    code: () => pluginCode.codes,
    workers,
    inherited: inheritedBy(distributeDescriptors(options.inherited, settings), options.supply),
    log: workerReports.log((logs) => logs.node),
    workerLog: workerReports.log((logs) => logs.proxy),
    nameCall: workerReports.nameCall,
    onFailures: workerReports.onFailures,
    onCall: workerReports.onCall,
    onHealth: workerReports.onHealth,
    onCounts: (counts) => {
      pluginCounts.add(counts);
      limitHits.add(counts);
    },
    onUsageTurned: workerReports.onUsageTurned,
    onTraffic: workerReports.onTraffic,
    onPluginCode: workerReports.onPluginCode,
    onExit: (worker) => {
      restarts++;
      workerReports.onExit(worker);
      clearInFlight(memory.addresses, worker);
    },
    startThread: (start) => priority.startThread(start),
    threads: options.threads,
  });
  const { drainTimeout } = settings;
  const shutdown = new NodeShutdown({ supervisor, vitals: memory.vitals, drainTimeout });
  return {
    options,
    memory,
    supervisor,
    workerReports,
    pluginCode,
    pluginCounts,
    limitHits,
    ticketKeys,
    requestKey,
    priority,
    restarts: () => restarts,
    shutdown,
    reload: new ReloadSteps(),
    development,
  };
}

/** The descriptors of a worker that starts: of the first of each number, and for ever of sockets that workers share. */
function inheritedBy(first: readonly InheritedDescriptors[], supply: DescriptorSupply | null) {
  const left = new Map(first.entries());
  return (worker: number): InheritedDescriptors => {
    const own = left.get(worker) ?? {};
    left.delete(worker);
    return supply === null ? own : { ...own, ...supply.take(worker) };
  };
}

/** Secrets that the data plane does not need stay in the control plane. */
export function forWorkers(settings: Settings): Settings {
  const { adminTls, statusTls, pg, declarative } = settings;
  return {
    ...settings,
    adminToken: null,
    adminTls: { ...adminTls, key: [] },
    statusTls: { ...statusTls, key: [] },
    pg: { ...pg, password: null },
    declarative: { ...declarative, text: null },
    hybrid: null,
  };
}
