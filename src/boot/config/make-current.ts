import { setTimeout as wait } from 'node:timers/promises';
import type { Publisher } from '../../control/publish/publisher.ts';
import type { Store } from '../../control/store/store.ts';
import { awaitWithTimeout } from '../../shared/util/time/await-with-timeout.ts';
import { NodeVitals } from '../../shared/zones/worker-vitals.ts';
import type { ConfiguredNode } from '../configure-node.ts';
import type { FirstConfig } from './load-config.ts';

/** Milliseconds between two attempts to read the position of the store. */
const retryPause = 200;

/**
 * A node is ready only when it has the config of its cluster: what was written while its workers started, too. Resolves when the node
 * may listen for readiness. With a config from the store that is when the workers have what the store has now, or when the database
 * does not answer any more. With a copy it is at once, and the node is not ready until then, for `last_good_wait` at most.
 */
export async function makeCurrent(node: ConfiguredNode, first: FirstConfig): Promise<void> {
  const { options, memory, logs, shutdown, publisher, data } = node;
  const { settings, predecessor } = options;
  if (data.store.kind === 'sqlite') return;
  const current = (timeout: number): Promise<boolean> =>
    hasCurrentConfig({ store: data.store, publisher, timeout, signal: shutdown.begun });
  if (first === 'store') {
    await current(settings.hybrid?.timeout ?? settings.pg.timeout);
    return;
  }
  // A predecessor has the same config, and is ready.
  if (predecessor !== null || settings.lastGoodWait === 0) return;
  const vitals = new NodeVitals(memory.vitals);
  vitals.oldConfig = true;
  void current(settings.lastGoodWait).then((reached) => {
    vitals.oldConfig = false;
    if (!reached && !shutdown.begun.aborted) logs.node.warn('ready with the last good config, which may be old');
  });
}

interface CurrentConfig {
  readonly store: Store;
  readonly publisher: Publisher;
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** Resolves to true when every worker has the version that the store has at the first moment that it answers. */
async function hasCurrentConfig({ store, publisher, timeout, signal }: CurrentConfig): Promise<boolean> {
  const end = performance.now() + timeout;
  const left = (): number => Math.max(0, end - performance.now());
  let version: number | null = null;
  while (version === null && left() > 0 && !signal.aborted) {
    const read = store.version().then(
      (found) => {
        version = found;
      },
      () => undefined,
    );
    await awaitWithTimeout(read, left());
    if (version === null) await wait(Math.min(retryPause, left()));
  }
  return version !== null && (await publisher.reached(version, left()));
}
