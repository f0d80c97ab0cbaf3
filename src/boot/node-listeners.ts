import type { AdminOptions, RunningListener, StatusFrontPlace } from '../admin/contract.ts';
import { startAdmin, startStatus } from '../admin/start-admin.ts';
import type { Analytics } from '../analytics/analytics.ts';
import type { CoreFacts } from '../observability/metrics/core-facts.ts';
import type { LogLevel, Settings } from '../settings/settings.ts';
import type { Publisher } from '../snapshot/publisher.ts';
import { createNodeFacts, type NodeFactsOptions } from '../workers/node-facts.ts';
import type { BackgroundParts } from './background-parts.ts';
import type { NodeAddresses } from './node-addresses.ts';
import type { NodeLogs } from './node-logs.ts';
import type { NodeMetrics } from './node-metrics.ts';
import type { OpenedStore } from './open-store.ts';

export interface NodeListenersOptions {
  readonly settings: Settings;
  readonly opened: OpenedStore;
  readonly logs: NodeLogs;
  readonly addresses: NodeAddresses;
  readonly publisher: Publisher;
  readonly metrics: NodeMetrics;
  readonly analytics: Analytics | null;
  readonly background: BackgroundParts;
  readonly facts: NodeFactsOptions;
  /** Workers that have ended and been replaced. */
  readonly restarts: () => number;
  readonly descriptors: CoreFacts['descriptors'];
  readonly zone: AdminOptions['pluginZone'];
  /** Null: the control plane serves the status API itself. */
  readonly front: StatusFrontPlace | null;
  readonly changeLogLevel: (level: LogLevel) => void;
  /** Told of each listener as soon as it is there: what fails later must not leave it open. */
  readonly started: (listener: RunningListener) => void;
}

/** The Admin API and the status API, once everything that they tell of is there. */
export async function startListeners(options: NodeListenersOptions): Promise<void> {
  const { settings, opened, logs, addresses, publisher, metrics, analytics, background, facts } = options;
  const { store, entities, catalog, plugins, pluginAdminRoutes } = opened;
  const { dns, health } = addresses;
  const node = createNodeFacts(facts);
  metrics.addCore({
    node,
    counters: facts.counters,
    linesLost: () => logs.dropped,
    workers: () => ({
      wanted: settings.workers,
      running: facts.supervisor.running().map(({ number, loop }) => ({ worker: number, ...loop })),
    }),
    restarts: options.restarts,
    descriptors: options.descriptors,
    stuck: () => facts.supervisor.stuck,
    ping: () => store.ping(),
    dns: () => dns.facts(),
    config: () => ({ version: publisher.position.version, failures: publisher.failures.size }),
    analytics: () => analytics?.ledger ?? null,
  });
  const dependencies = { settings, store, publisher, node, dns: () => dns.facts(), health, metrics, analytics };
  const admin: AdminOptions = {
    entities,
    catalog,
    plugins,
    log: logs.admin,
    pluginAdminRoutes,
    pluginBackground: async (plugin, message) => (await background.handle(plugin, message)) ?? null,
    pluginZone: options.zone,
    ...(options.front === null ? {} : { front: options.front }),
    logLevel: logs.level(options.changeLogLevel),
    ...(settings.sslCert.length === 0 ? {} : { tls: { cert: [...settings.sslCert], key: [...settings.sslCertKey] } }),
  };
  options.started(await startAdmin(dependencies, admin));
  options.started(await startStatus(dependencies, admin));
}
