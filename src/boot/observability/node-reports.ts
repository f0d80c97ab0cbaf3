import { hostname, networkInterfaces } from 'node:os';
import type { ClusterFacts } from '../../control/admin/contract.ts';
import { ConfigState } from '../../control/nodes/config-state.ts';
import { NodeList, type NodeListing } from '../../control/nodes/node-list.ts';
import type { NodeLoadReport, NodeReport } from '../../control/nodes/node-report.ts';
import { NodeReporter } from '../../control/nodes/node-reporter.ts';
import { notReadyReason } from '../../control/supervisor/readiness.ts';
import type { ListenAddress } from '../../shared/settings/settings.ts';
import { sharedClock } from '../../shared/util/time/clock.ts';
import { Counter, sumCounter } from '../../shared/zones/counters.ts';
import { NodeVitals } from '../../shared/zones/worker-vitals.ts';
import { version } from '../../version.ts';
import type { ConfiguredNode } from '../configure-node.ts';

/** Maximum backends, and circuits, of a report. */
const maxNamed = 100;

/** What this node reports of itself to the others that share its store, and what they report. */
export class NodeReports implements ClusterFacts {
  readonly #node: ConfiguredNode;
  readonly #vitals: NodeVitals;
  readonly #clock = sharedClock();
  readonly #config: ConfigState;
  readonly #reporter: NodeReporter | null;
  readonly #list: NodeList;
  readonly #startedAt = Math.round(performance.timeOrigin);

  constructor(node: ConfiguredNode) {
    this.#node = node;
    const { memory, publisher, supervisor, data, logs } = node;
    const { store } = data;
    this.#vitals = new NodeVitals(memory.vitals);
    this.#config = new ConfigState({
      head: store.kind === 'sqlite' ? null : () => store.position(),
      sent: () => (publisher.sent < 0 ? null : publisher.position),
      applied: () => publisher.isComplete && supervisor.lagging(publisher.sent).length === 0,
      failures: () => publisher.failures.size,
    });
    const alone = !data.shared;
    const report = (): NodeReport => this.#report();
    this.#reporter = alone
      ? null
      : new NodeReporter({
          removeAfter: node.options.settings.dataPlanePurgeDelay,
          store,
          config: this.#config,
          report,
          notReady: () => this.#notReady(),
          log: logs.node,
        });
    this.#list = new NodeList({ store, alone, own: report });
  }

  start(): void {
    this.#reporter?.start();
  }

  /** Another process continues as this node. */
  async handOver(): Promise<void> {
    await this.#reporter?.handOver();
  }

  async stop(): Promise<void> {
    await this.#reporter?.stop();
  }

  list(): Promise<NodeListing> {
    return this.#list.read();
  }

  load(): NodeLoadReport {
    const { counters } = this.#node.memory;
    const sum = (counter: number): number => sumCounter(counters, counter);
    const running = this.#node.supervisor.running().map(({ number }) => number);
    return {
      requests: sum(Counter.requests),
      inFlight: requestsInFlight(counters),
      loopDelay: Math.max(0, ...running.map((worker) => this.#vitals.loopDelay(worker))),
      shed: sum(Counter.shed),
      workers: running.length,
    };
  }

  configAge(): number | null {
    return this.#config.age();
  }

  #notReady(): string | null {
    return notReadyReason(this.#vitals, this.#clock());
  }

  #report(): NodeReport {
    const { options, background, addresses, data } = this.#node;
    const { link } = data;
    const { settings, nodeId } = options;
    const { book, health } = addresses;
    const names = new Map([...book.list()].map(({ upstreamId, upstreamName }) => [upstreamId, upstreamName]));
    return {
      id: nodeId,
      role: settings.role,
      hostname: hostname(),
      address: addressOf(settings.proxyListen) ?? addressOf(settings.adminListen) ?? '',
      version,
      startedAt: this.#startedAt,
      reportedAt: Date.now(),
      config: this.#config.report(),
      load: this.load(),
      notReady: this.#notReady(),
      unhealthy: health.monitor
        .unhealthy()
        .slice(0, maxNamed)
        .map(({ upstreamId, address }) => ({ upstream: names.get(upstreamId) ?? upstreamId, address })),
      circuits: background
        .circuits()
        .slice(0, maxNamed)
        .map(({ plugin, key, state }) => ({ plugin, key, state })),
      ...(link?.connectedTo == null ? {} : { controlPlane: link.connectedTo }),
      ...(settings.hybrid === null ? {} : { labels: settings.hybrid.labels }),
    };
  }
}

/** A stream counts as a connection that is always writing. */
function requestsInFlight(counters: SharedArrayBuffer): number {
  const streams = sumCounter(counters, Counter.streamsActive);
  return Math.max(0, sumCounter(counters, Counter.connectionsWriting) - streams);
}

/** Where other machines reach a listener; null: it has no address. */
function addressOf(listeners: readonly ListenAddress[]): string | null {
  const listener = listeners.find(({ ssl }) => !ssl) ?? listeners[0];
  if (listener === undefined) return null;
  const { ip, port } = listener;
  const address = ip === '0.0.0.0' || ip === '::' ? (ownAddress() ?? ip) : ip;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

function ownAddress(): string | null {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const outside = all.filter(({ internal }) => !internal);
  return (outside.find(({ family }) => family === 'IPv4') ?? outside[0])?.address ?? null;
}
