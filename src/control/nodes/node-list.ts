import { awaitWithTimeout } from '../../shared/util/time/await-with-timeout.ts';
import type { SeenNode } from '../store/nodes.ts';
import type { FeedPosition, Store } from '../store/store.ts';
import type { NodeReport } from './node-report.ts';

/** Milliseconds without a report after which a node is silent: two reports in a row were lost. */
export const silentAfter = 15_000;
/** Maximum nodes of a list. */
const maxListed = 1000;
/** Milliseconds that a list waits for the store. */
const readTimeout = 2000;

export type NodeState = 'ready' | 'not ready' | 'silent';

export interface ListedNode {
  readonly report: NodeReport;
  readonly state: NodeState;
  /** When its last report arrived, milliseconds since the epoch by the clock of the store. */
  readonly seenAt: number;
  /** How far its config is behind; null: not known. */
  readonly lag: NodeLag | null;
}

export interface NodeLag {
  /** Versions of the store. */
  readonly versions: number;
  /** Milliseconds since the node last knew that it has everything; 0: it has everything. Null: not known. */
  readonly milliseconds: number | null;
}

export interface NodeListing {
  /** At most 1,000; silent nodes are the last. */
  readonly nodes: readonly ListedNode[];
  readonly total: number;
  /** Version of the store; null: not known. */
  readonly version: number | null;
  /** Null: the list is that of the store. Otherwise the store is unavailable, and the list was read so many milliseconds ago. */
  readonly staleFor: number | null;
}

export interface NodeListOptions {
  readonly store: Pick<Store, 'readNodes' | 'position'>;
  /** No other node uses the store, and this one does not report to it. */
  readonly alone: boolean;
  /** This node as it is now. */
  readonly own: () => NodeReport;
  /** Milliseconds of a clock that only goes forward. Default: `performance.now`. */
  readonly elapsed?: () => number;
}

interface ReadNodes {
  readonly at: number;
  readonly now: number;
  readonly head: FeedPosition;
  readonly seen: readonly { readonly report: NodeReport; readonly seenAt: number }[];
}

/** All nodes that share a store. The own entry is always of this moment. */
export class NodeList {
  readonly #options: NodeListOptions;
  readonly #elapsed: () => number;
  #last: ReadNodes | null = null;

  constructor(options: NodeListOptions) {
    this.#options = options;
    this.#elapsed = options.elapsed ?? (() => performance.now());
  }

  /** Never rejects: while the store is unavailable, it returns what was read last. */
  async read(): Promise<NodeListing> {
    const { own } = this.#options;
    let fresh = false;
    const reading = this.#read().then((read) => {
      this.#last = read;
      fresh = true;
    });
    await awaitWithTimeout(reading, readTimeout);
    const last = this.#last;
    const elapsed = last === null ? 0 : Math.round(this.#elapsed() - last.at);
    const now = last === null ? Date.now() : last.now + elapsed;
    const self = own();
    const head = last?.head ?? null;
    const seen = new Map((last?.seen ?? []).map((one) => [one.report.id, one]));
    seen.set(self.id, { report: self, seenAt: now });
    const all = [...seen.values()]
      .map((one) => listed(one, now, head))
      .sort(
        (a, b) => Number(a.state === 'silent') - Number(b.state === 'silent') || (a.report.id < b.report.id ? -1 : 1),
      );
    return {
      nodes: all.slice(0, maxListed),
      total: all.length,
      version: head?.version ?? null,
      staleFor: fresh ? null : elapsed,
    };
  }

  async #read(): Promise<ReadNodes> {
    const { store, alone } = this.#options;
    const at = this.#elapsed();
    if (alone) return { at, now: Date.now(), head: await store.position(), seen: [] };
    const [{ now, nodes }, head] = await Promise.all([store.readNodes(), store.position()]);
    return { at, now, head, seen: nodes.flatMap((node) => seenNode(node)) };
  }
}

/** A report that is no report is left out. */
function seenNode({ data, seenAt }: SeenNode): ReadNodes['seen'] {
  try {
    const report = JSON.parse(data) as NodeReport;
    return typeof report?.id === 'string' ? [{ report, seenAt }] : [];
  } catch {
    return [];
  }
}

function listed({ report, seenAt }: ReadNodes['seen'][number], now: number, head: FeedPosition | null): ListedNode {
  const silent = now - seenAt > silentAfter;
  const state = silent ? 'silent' : report.notReady === null ? 'ready' : 'not ready';
  return { report, state, seenAt, lag: lagOf(report, now - seenAt, head) };
}

/** Times of different clocks are never compared: the age at the time of the report is by the clock of the node. */
function lagOf({ config, reportedAt }: NodeReport, sinceReport: number, head: FeedPosition | null): NodeLag | null {
  if (config === null || head === null || config.store !== head.store) return null;
  const versions = Math.max(0, head.version - config.version);
  if (versions === 0) return { versions, milliseconds: 0 };
  const known = reportedAt !== undefined && config.currentAt > 0;
  return {
    versions,
    milliseconds: known ? Math.max(0, reportedAt - config.currentAt) + Math.max(0, sinceReport) : null,
  };
}
