import pg from 'pg';
import { awaitWithTimeout } from '../../../../shared/util/time/await-with-timeout.ts';
import type { FeedPosition } from '../../store.ts';
import type { SeenCommit, StoreLog } from '../sql-backend.ts';

export const changesChannel = 'sluicegate_changes';

/** How often the position is read, so that a lost notification delays a change by no more. In milliseconds. */
const pollInterval = 500;

const firstRetryDelay = 200;
const maxRetryDelay = 5000;

/** Maximum wait for the server at close. In milliseconds. */
const closeLimit = 1000;

export interface WatchOptions {
  readonly connection: pg.ClientConfig;
  readonly onCommit: (seen: SeenCommit) => void;
  readonly readPosition: () => Promise<FeedPosition>;
  readonly log: StoreLog;
}

/**
 * Detects commits of other nodes: with LISTEN on a connection of its own, which is opened again when it is lost, and by reading the
 * position at intervals. That covers lost notifications, poolers that do not forward them, and a database that was restored from a
 * backup.
 */
export function watchPostgres(options: WatchOptions): () => Promise<void> {
  let closed = false;
  let client: pg.Client | null = null;
  let retryDelay = firstRetryDelay;
  let retryTimer: NodeJS.Timeout | undefined;
  let pollTimer: NodeJS.Timeout | undefined;
  let polling: Promise<void> = Promise.resolve();

  async function listen(): Promise<void> {
    const fresh = new pg.Client(options.connection);
    client = fresh;
    fresh.on('notification', (message) => {
      const version = Number(message.payload);
      if (Number.isSafeInteger(version) && !closed) options.onCommit({ version, stamp: null });
    });
    fresh.on('error', (error) => lost(fresh, error));
    fresh.on('end', () => lost(fresh, new Error('the connection was closed')));
    try {
      await fresh.connect();
      await fresh.query(`listen ${changesChannel}`);
      if (retryDelay !== firstRetryDelay) options.log.info('the change feed is connected again');
      retryDelay = firstRetryDelay;
    } catch (error) {
      lost(fresh, error instanceof Error ? error : new Error(String(error)));
    }
  }

  function lost(which: pg.Client, error: Error): void {
    if (closed || client !== which) return;
    client = null;
    which.end().catch(() => undefined);
    if (retryDelay === firstRetryDelay) {
      options.log.warn(
        `the change feed lost its connection; polling for changes until it is connected again: ${error.message}`,
      );
    }
    retryTimer = setTimeout(() => void listen(), retryDelay).unref();
    retryDelay = Math.min(retryDelay * 2, maxRetryDelay);
  }

  async function poll(): Promise<void> {
    try {
      const position = await options.readPosition();
      if (!closed) options.onCommit(position);
    } catch {
      // The database is unavailable: the listening connection has reported it, and the next round tries again.
    }
    if (!closed) pollTimer = setTimeout(startPolling, pollInterval).unref();
  }

  function startPolling(): void {
    polling = poll();
  }

  void listen();
  startPolling();
  return async () => {
    closed = true;
    clearTimeout(retryTimer);
    clearTimeout(pollTimer);
    // A server that hangs answers neither; the backend cuts the connections afterwards.
    await awaitWithTimeout(Promise.all([polling, client?.end()]), closeLimit);
  };
}
