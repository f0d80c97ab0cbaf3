import { ConfigLoader } from '../../control/declarative/db-less/config-loader.ts';
import type { Publisher } from '../../control/publish/publisher.ts';
import { collectGarbage } from '../../shared/util/process/collect-when-idle.ts';
import { NodeVitals } from '../../shared/zones/worker-vitals.ts';
import type { OpenedNode } from '../open-node.ts';
import { DeclaredSource } from './declared-source.ts';
import type { OpenedStore } from './open-store.ts';

/** What a node without a database has instead of one. */
export interface DeclarativeParts {
  readonly loader: ConfigLoader;
  readonly source: DeclaredSource;
}

/** Number of entities from which on a load leaves hundreds of megabytes of garbage, which V8 would keep until it needs the memory. */
const largeConfig = 20_000;
/** Milliseconds from a load until its garbage is collected: the answer to the client is sent by then. */
const collectionDelay = 3000;

/** Collects garbage some time after the last request for it. It takes about 0.1 s for each 100,000 entities. */
class DelayedCollection {
  #timer: NodeJS.Timeout | null = null;

  refresh(): void {
    this.stop();
    this.#timer = setTimeout(() => collectGarbage('last-resort'), collectionDelay).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}

export function createDeclarativeParts(
  { options, memory, logs, shutdown }: OpenedNode,
  { store, entities }: OpenedStore,
  publisher: Publisher,
): DeclarativeParts {
  const { settings } = options;
  const vitals = new NodeVitals(memory.vitals);
  const collector = new DelayedCollection();
  shutdown.add('the control plane', () => collector.stop());
  const loader = new ConfigLoader({
    store,
    entities,
    hashKeys: settings.hashKeys,
    // Its author is there to see the error.
    strict: options.application !== null,
    reached: (version, timeout) => publisher.reached(version, timeout),
    empty: (empty) => {
      vitals.emptyConfig = empty;
    },
    stored: (entities) => {
      if (!options.ownsProcess || entities < largeConfig) return;
      collectGarbage('regular');
      collector.refresh();
    },
  });
  return { loader, source: new DeclaredSource({ settings: settings.declarative, loader, log: logs.node }) };
}
