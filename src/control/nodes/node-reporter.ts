import { awaitWithTimeout } from '../../shared/util/time/await-with-timeout.ts';
import type { NodesStore } from '../store/nodes.ts';
import type { ConfigState } from './config-state.ts';
import type { NodeReport } from './node-report.ts';

export interface NodeReporterOptions {
  readonly store: NodesStore;
  readonly config: ConfigState;
  /** The node as it is now. */
  readonly report: () => NodeReport;
  /** Why the node is not ready, cheaper than a report. */
  readonly notReady: () => string | null;
  readonly log: NodeReporterLog;
  /** Milliseconds without a report after which a node is removed. Default: 14 days. */
  readonly removeAfter?: number;
}

export interface NodeReporterLog {
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  log(level: 'notice', message: string): void;
}

/** Milliseconds between two reports; each wait is up to a tenth shorter or longer, so that nodes do not report at the same time. */
export const reportInterval = 5000;
/** A change of the config or of readiness is reported earlier, but at most once in this time. */
const minInterval = 1000;
/** Milliseconds between two looks at what is reported earlier. */
const watchInterval = 500;
/** Milliseconds between two removals of silent nodes. */
const removalInterval = 3_600_000;
/** Milliseconds that the last statement of a node that stops may take. */
const farewellLimit = 1000;

/** Default of `removeAfter`: Kong's `cluster_data_plane_purge_delay`. */
export const defaultRemoveAfter = 14 * 86_400_000;

/** Writes the report of this node to the store that all nodes share, at intervals and after changes, until the node stops. */
export class NodeReporter {
  readonly #options: NodeReporterOptions;
  #watch: NodeJS.Timeout | null = null;
  #removal: NodeJS.Timeout | null = null;
  #due = 0;
  #reportedAt = 0;
  #reported = '';
  #running: Promise<void> | null = null;
  #failing = false;
  #ended = false;

  constructor(options: NodeReporterOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#ended) return;
    this.#watch ??= setInterval(() => this.#look(), watchInterval).unref();
    this.#removal ??= setInterval(() => void this.#removeSilent(), removalInterval).unref();
    this.#look();
  }

  /** Ends without a trace: another process continues as this node. */
  async handOver(): Promise<void> {
    this.#ended = true;
    if (this.#watch !== null) clearInterval(this.#watch);
    if (this.#removal !== null) clearInterval(this.#removal);
    this.#watch = this.#removal = null;
    if (this.#running !== null) await awaitWithTimeout(this.#running, farewellLimit);
  }

  /** The node stops: it is removed from the list at once. */
  async stop(): Promise<void> {
    const reported = this.#watch !== null;
    await this.handOver();
    if (!reported) return;
    const { store, report } = this.#options;
    // It disappears from the list as a silent node if the store is unavailable now.
    await awaitWithTimeout(store.removeNode(report().id), farewellLimit);
  }

  #look(): void {
    if (this.#running !== null) return;
    const now = performance.now();
    const changed = this.#reported !== this.#urgent();
    if (now < this.#due && !(changed && now >= this.#reportedAt + minInterval)) return;
    this.#due = now + reportInterval * (0.9 + Math.random() / 5);
    this.#reportedAt = now;
    this.#running = this.#send().finally(() => {
      this.#running = null;
    });
  }

  async #send(): Promise<void> {
    const { store, config, report, log } = this.#options;
    await config.check();
    const now = report();
    const urgent = this.#urgent();
    try {
      await store.putNodes([{ id: now.id, role: now.role, data: JSON.stringify(now) }]);
      this.#reported = urgent;
      if (this.#failing) log.log('notice', 'the node is reported to other nodes again');
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) log.warn('the node cannot be reported to other nodes', { err: error });
      this.#failing = true;
    }
  }

  /** What is reported as soon as it changes. */
  #urgent(): string {
    const config = this.#options.config.report();
    return JSON.stringify([config?.store, config?.version, config?.failures, this.#options.notReady()]);
  }

  async #removeSilent(): Promise<void> {
    const { store, removeAfter = defaultRemoveAfter } = this.#options;
    await store.deleteNodes(removeAfter).catch(() => {});
  }
}
