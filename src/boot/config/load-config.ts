import type { Publisher } from '../../control/publish/publisher.ts';
import type { Store } from '../../control/store/store.ts';
import type { ErrorLog } from '../../shared/logs/error-log.ts';
import { snapshotEntities } from '../../shared/messages/messages.ts';
import type { ConfigCopy } from './config-copy.ts';
import type { DeclarativeParts } from './declarative-parts.ts';
import { isUnavailable, retryPauses } from './store-retries.ts';
import { whileAnswering } from './while-answering.ts';

/** Where the first config came from. */
export type FirstConfig = 'store' | 'copy';

export interface ConfigSource {
  readonly store: Store;
  readonly publisher: Publisher;
  /** Null: there is a database. */
  readonly declarative: DeclarativeParts | null;
  readonly log: ErrorLog;
  readonly copy: ConfigCopy;
  /** Another process is the node until this one takes over, maybe of an earlier version. */
  readonly handover: boolean;
  /** Reads the copy of the consumers and credentials that were looked up while the database was available. */
  readonly restoreLookups: () => Promise<void>;
  /** Resolves when the workers listen. */
  readonly listening: Promise<void>;
  /** Stops the attempts to reach the database. */
  readonly signal: AbortSignal;
}

/**
 * Sends the workers their first config: from the store or, when its database does not answer, from this node's copy of the last
 * good config. Rejects with one clear line when there is neither.
 */
export async function loadConfig(source: ConfigSource): Promise<FirstConfig> {
  const { store, publisher, copy } = source;
  // A SQLite file is as local as a copy of it would be.
  if (store.kind !== 'sqlite') copy.keep(publisher);
  try {
    await prepare(source);
    await source.declarative?.loader.restore();
    await source.declarative?.source.start();
    await publisher.load(() => whileAnswering(store, store.dump(snapshotEntities)));
  } catch (error) {
    if (!isUnavailable(error) || store.kind === 'sqlite') throw error;
    await loadCopy(source, error);
    return 'copy';
  }
  // Until the workers listen, the processors are theirs: to follow the store takes code that its first read does not.
  source.listening.then(
    () => publisher.follow(),
    () => undefined,
  );
  return 'store';
}

/** A migration may take long, so a ping first determines, within its timeout, whether the database answers. */
async function prepare({ store, handover }: ConfigSource): Promise<void> {
  await store.ping();
  await whileAnswering(store, store.migrate(handover ? { shared: true } : {}));
}

async function loadCopy(source: ConfigSource, unavailable: Error): Promise<void> {
  const { publisher, copy, log } = source;
  const { path } = copy;
  const saved = await copy.read();
  if ('unusable' in saved) {
    const { unusable: reason } = saved;
    log.error(`the copy of the last good config is not used: ${reason}`, { path });
    throw new Error(`${unavailable.message}, and the copy of the last good config (${path}) is not usable: ${reason}`);
  }
  await source.restoreLookups();
  publisher.begin(saved.dump);
  log.warn(`${unavailable.message}; the node uses the last good config until the database answers`, { path });
  void reconnect(source);
}

async function reconnect(source: ConfigSource): Promise<void> {
  const { publisher, log, signal } = source;
  for await (const _ of retryPauses(signal)) {
    try {
      await prepare(source);
      log.notice('the database answers again');
      publisher.follow(true);
      return;
    } catch (error) {
      if (!isUnavailable(error)) log.error('the database cannot be used', { err: error });
    }
  }
}
