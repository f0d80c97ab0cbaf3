import { join } from 'node:path';
import type { ErrorLog } from '../observability/error-log.ts';
import type { Settings } from '../settings/settings.ts';
import { readLastGood, writeLastGood } from '../snapshot/last-good.ts';
import { LastGoodWriter } from '../snapshot/last-good-writer.ts';
import type { Publisher } from '../snapshot/publisher.ts';
import { type Store, StoreError } from '../store/store.ts';

const firstPause = 500;
const longestPause = 10_000;

export interface ConfigSource {
  readonly settings: Settings;
  readonly store: Store;
  readonly publisher: Publisher;
  readonly log: ErrorLog;
  /** Takes over the consumers and credentials that were asked for before the database went away. */
  readonly restoreLookups: () => Promise<void>;
  /** Ends the attempts to reach the database. */
  readonly signal: AbortSignal;
}

/**
 * Gives the workers their first config: from the store or, when its database does not answer, from the copy that this
 * node kept of the last one. Rejects with one clear line when there is neither.
 */
export async function beginConfig(source: ConfigSource): Promise<void> {
  const { store, publisher } = source;
  // SQLite is as local as a copy of it would be.
  if (store.kind === 'postgres') keepCopy(source);
  try {
    await prepare(store);
  } catch (error) {
    if (!isUnavailable(error) || store.kind === 'sqlite') throw error;
    await beginFromCopy(source, error);
    return;
  }
  await publisher.load();
  publisher.follow();
}

/** A migration may take long. Whether the database answers at all is known sooner, within its timeout. */
async function prepare(store: Store): Promise<void> {
  await store.ping();
  await store.migrate();
}

function keepCopy({ settings, publisher, log }: ConfigSource): void {
  const path = copyPath(settings);
  const writer = new LastGoodWriter({
    write: () => writeLastGood(path, publisher.config(), publisher.position),
    onError: (error) => log.error('the copy of the last good config cannot be written', { err: error }),
  });
  publisher.keepLastGood(writer);
}

async function beginFromCopy(source: ConfigSource, unavailable: Error): Promise<void> {
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
  log.warn(`${unavailable.message}; the node works with the last good config until the database answers`, { path });
  void reconnect(source);
}

async function reconnect({ store, publisher, log, signal }: ConfigSource): Promise<void> {
  for (let wait = firstPause; !signal.aborted; wait = Math.min(wait * 2, longestPause)) {
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
