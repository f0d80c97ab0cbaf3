import { join } from 'node:path';
import { readLastGood, writeLastGood } from '../../control/publish/last-good.ts';
import { LastGoodWriter } from '../../control/publish/last-good-writer.ts';
import type { Publisher } from '../../control/publish/publisher.ts';
import { type Store, StoreError } from '../../control/store/store.ts';
import type { ErrorLog } from '../../shared/logs/error-log.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import type { DeclarativeParts } from './declarative-parts.ts';

const firstPause = 500;
const maxPause = 10_000;

export interface ConfigSource {
  readonly settings: Settings;
  readonly store: Store;
  readonly publisher: Publisher;
  /** Null: there is a database. */
  readonly declarative: DeclarativeParts | null;
  readonly log: ErrorLog;
  /** Reads the copy of the consumers and credentials that were looked up while the database was available. */
  readonly restoreLookups: () => Promise<void>;
  /** Stops the attempts to reach the database. */
  readonly signal: AbortSignal;
}

/**
 * Sends the workers their first config: from the store or, when its database does not answer, from this node's copy of the last
 * good config. Rejects with one clear line when there is neither.
 */
export async function loadConfig(source: ConfigSource): Promise<void> {
  const { store, publisher } = source;
  // A SQLite file is as local as a copy of it would be.
  if (store.kind === 'postgres') writeCopies(source);
  try {
    await prepare(store);
  } catch (error) {
    if (!isUnavailable(error) || store.kind === 'sqlite') throw error;
    await loadCopy(source, error);
    return;
  }
  await source.declarative?.loader.restore();
  await source.declarative?.source.start();
  await publisher.load();
  publisher.follow();
}

/** A migration may take long, so a ping first determines, within its timeout, whether the database answers. */
async function prepare(store: Store): Promise<void> {
  await store.ping();
  await store.migrate();
}

function writeCopies({ settings, publisher, log }: ConfigSource): void {
  const path = copyPath(settings);
  const writer = new LastGoodWriter({
    write: () => writeLastGood(path, publisher.config(), publisher.position),
    onError: (error) => log.error('the copy of the last good config cannot be written', { err: error }),
  });
  publisher.keepLastGood(writer);
}

async function loadCopy(source: ConfigSource, unavailable: Error): Promise<void> {
  const { settings, publisher, log } = source;
  const path = copyPath(settings);
  try {
    const dump = await readLastGood(path);
    await source.restoreLookups();
    publisher.begin(dump);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log.error(`the copy of the last good config is not used: ${reason}`, { path });
    throw new Error(`${unavailable.message}, and the copy of the last good config (${path}) is not usable: ${reason}`);
  }
  log.warn(`${unavailable.message}; the node uses the last good config until the database answers`, { path });
  void reconnect(source);
}

async function reconnect({ store, publisher, log, signal }: ConfigSource): Promise<void> {
  for (let wait = firstPause; !signal.aborted; wait = Math.min(wait * 2, maxPause)) {
    await pause(wait, signal);
    if (signal.aborted) return;
    try {
      await prepare(store);
      log.notice('the database answers again');
      publisher.follow(true);
      return;
    } catch (error) {
      if (!isUnavailable(error)) log.error('the database cannot be used', { err: error });
    }
  }
}

function copyPath(settings: Settings): string {
  return join(settings.prefix, 'last-good.json');
}

function isUnavailable(error: unknown): error is StoreError {
  return error instanceof StoreError && error.detail.kind === 'unavailable';
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, milliseconds);
    signal.addEventListener('abort', finish, { once: true });
  });
}
