import { ConfigMirror } from '../../control/publish/config-mirror.ts';
import type { Publisher } from '../../control/publish/publisher.ts';
import type { Dump, Store } from '../../control/store/store.ts';
import type { ErrorLog } from '../../shared/logs/error-log.ts';
import type { ConfigCopy, SavedConfig } from './config-copy.ts';
import type { FirstConfig } from './load-config.ts';
import { retryPauses } from './store-retries.ts';

export interface DataPlaneConfigSource {
  readonly store: Store;
  readonly publisher: Publisher;
  readonly log: ErrorLog;
  readonly copy: ConfigCopy;
  /** What the copy contained at the start. */
  readonly saved: SavedConfig;
  /** Reads the copy of the consumers and credentials that were looked up while a control plane was reachable. */
  readonly restoreLookups: () => Promise<void>;
  /** The node has no config yet, and waits for a control plane; called again with false when it has one. */
  readonly waiting: (isWaiting: boolean) => Promise<void>;
  /** Ends the attempts to reach a control plane. */
  readonly signal: AbortSignal;
}

/** Milliseconds in which the changes since the copy have to arrive; otherwise the node reads the whole config. */
const catchUpLimit = 5000;
/** Changes that are read at once. */
const changesPerRead = 256;
/** Milliseconds until a change that should have been announced is looked for. */
const quietLimit = 250;

/**
 * Sends the workers their first config: the copy of the last good config with what has changed since, or the whole config of a control
 * plane; while none answers, the copy as it is. Without a copy the node waits. Rejects only when the node begins to stop.
 */
export async function loadDataPlaneConfig(source: DataPlaneConfigSource): Promise<FirstConfig> {
  const { copy, publisher, log, saved, signal } = source;
  const { path } = copy;
  copy.keep(publisher);
  const failure = await attempt(source);
  if (failure === null) return 'store';
  if ('dump' in saved) {
    await source.restoreLookups();
    publisher.begin(saved.dump);
    log.warn(`${failure}; the node uses the last good config until a control plane answers`, { path });
    void reconnect(source);
    return 'copy';
  }
  const { unusable: reason } = saved;
  log.error(`${failure}, and the copy of the last good config is not usable: ${reason}; waiting for a control plane`, {
    path,
  });
  await source.waiting(true);
  let last = failure;
  for await (const _ of retryPauses(signal)) {
    const again = await attempt(source);
    if (again === null) {
      await source.waiting(false);
      log.notice('a control plane answers');
      return 'store';
    }
    if (again !== last) log.warn(`${again}; waiting for a control plane`);
    last = again;
  }
  throw new Error('the node is stopping');
}

/** Null: the workers have the config of a control plane; else why not. */
async function attempt({ store, publisher, copy, saved }: DataPlaneConfigSource): Promise<string | null> {
  try {
    await store.ping();
    const current = 'dump' in saved ? await withChangesSince(saved.dump, store) : null;
    if (current === null) await publisher.load();
    else publisher.resume(current);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  copy.changed();
  publisher.follow();
  return null;
}

/** The copy with all changes up to now. Null: the control plane does not know its position, or the changes do not arrive in time. */
async function withChangesSince(dump: Dump, store: Store): Promise<Dump | null> {
  if (dump.store === '') return null;
  const end = performance.now() + catchUpLimit;
  const head = await store.version();
  const mirror = new ConfigMirror();
  mirror.replace(dump);
  while (performance.now() < end) {
    const batch = await store.changesSince(mirror.position, changesPerRead);
    if (typeof batch === 'string') return null;
    mirror.apply(batch);
    if (mirror.position.version >= head) return { ...mirror.position, entities: mirror.full().upserts };
    if (batch.changes.length === 0) await nextChange(store);
  }
  return null;
}

function nextChange(store: Store): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      unsubscribe();
      resolve();
    };
    const timer = setTimeout(finish, quietLimit);
    const unsubscribe = store.subscribe(finish);
  });
}

async function reconnect({ store, publisher, log, signal }: DataPlaneConfigSource): Promise<void> {
  for await (const _ of retryPauses(signal)) {
    try {
      await store.ping();
      log.notice('a control plane answers again');
      // Lookups of the copy may be older than the config, so everything is compared.
      publisher.follow(true);
      return;
    } catch {
      // The link logs why.
    }
  }
}
