import { monotonic } from '../../../../shared/util/time/clock.ts';
import { NodeRates } from '../../../overview/node-rates.ts';
import type { AdminDependencies } from '../../contract.ts';
import { CachedPart } from './cached-part.ts';
import {
  certificatesPart,
  circuitsPart,
  configPart,
  databasePart,
  descriptorsPart,
  failingTargetsPart,
  limitsPart,
  logPart,
  nodesPart,
  workersPart,
} from './state-parts.ts';
import { shownWindows } from './traffic-view.ts';
import { UsagePart } from './usage-part.ts';

type Shown = Readonly<Record<string, unknown>>;

/** Milliseconds for which a document is shared by all who request it, and the parts that take the store or much time. */
const maxAge = 1_000;
const maxPartAge = 5_000;

/** What changes rarely, by the name of the part; null: it could not be read. */
export type OverviewState = Readonly<Record<string, Shown | null>>;

/** What is going on now on this node. However many request it, it is made once a second. */
export class OverviewDocument {
  readonly #deps: AdminDependencies;
  readonly #usage: CachedPart<Shown | null> | null;
  readonly #nodes: CachedPart<Shown>;
  readonly #database: CachedPart<Shown>;
  readonly #certificates: CachedPart<Shown>;
  #state: Promise<OverviewState> | null = null;
  #stateAt = 0;
  #document: Promise<Shown> | null = null;
  #documentAt = 0;

  constructor(deps: AdminDependencies) {
    this.#deps = deps;
    const { analytics, store } = deps;
    const usage = analytics === null ? null : new UsagePart(analytics, store);
    this.#usage = usage === null ? null : new CachedPart(0, () => usage.read(deps.overview.startedAt));
    const rates = new NodeRates();
    this.#nodes = new CachedPart(maxPartAge, () => nodesPart(deps, rates));
    this.#database = new CachedPart(maxPartAge, () => databasePart(deps));
    this.#certificates = new CachedPart(maxPartAge, () => certificatesPart(deps));
  }

  read(): Promise<Shown> {
    const now = monotonic();
    if (this.#document === null || now - this.#documentAt >= maxAge) {
      this.#documentAt = now;
      this.#document = this.#make();
    }
    return this.#document;
  }

  /** The parts that change rarely. */
  state(): Promise<OverviewState> {
    const now = monotonic();
    if (this.#state === null || now - this.#stateAt >= maxAge) {
      this.#stateAt = now;
      this.#state = this.#makeState();
    }
    return this.#state;
  }

  async #make(): Promise<Shown> {
    const { node, settings, overview } = this.#deps;
    const [usage, state] = await Promise.all([this.#usage?.get() ?? null, this.state()]);
    const notReady = node.notReadyReason();
    return {
      time: Math.round(Date.now()) / 1000,
      node: {
        ...{ id: node.nodeId, hostname: node.hostname, version: node.version, role: settings.role },
        started_at: overview.startedAt / 1000,
        ready: notReady === null,
        not_ready_reason: notReady,
      },
      traffic: shownWindows(overview.seconds.last(60)),
      usage,
      ...state,
      descriptors: descriptorsPart(this.#deps),
    };
  }

  async #makeState(): Promise<OverviewState> {
    const deps = this.#deps;
    const [nodes, database, certificates] = await Promise.all([
      this.#nodes.get(),
      this.#database.get(),
      this.#certificates.get(),
    ]);
    return {
      failing_targets: failingTargetsPart(deps),
      circuits: circuitsPart(deps),
      limits: limitsPart(deps),
      workers: workersPart(deps),
      nodes,
      certificates,
      config: configPart(deps),
      database,
      log: logPart(deps),
    };
  }
}
