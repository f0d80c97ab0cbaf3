import type pg from 'pg';
import { awaitWithTimeout } from '../../../../shared/util/time/await-with-timeout.ts';
import type { SeenCommit, StoreLog } from '../sql-backend.ts';
import type { ConnectionSettings } from './connection-settings.ts';
import { HeadPoller } from './head-poller.ts';
import { NotificationListener } from './notification-listener.ts';

/** Milliseconds between two polls while notifications arrive: the bound of a commit whose notification is lost. */
const slowInterval = 500;

/** Milliseconds between two polls while they do not. */
const fastInterval = 75;

/** Milliseconds that a notification may be later than the poll that has seen its commit. */
const grace = 250;

/** Notified versions that are remembered. */
const maxNotified = 1000;

/** Maximum wait for the server at close. In milliseconds. */
const closeLimit = 1000;

export interface WatchOptions {
  readonly connection: pg.ClientConfig;
  readonly settings: ConnectionSettings;
  readonly onCommit: (seen: SeenCommit) => void;
  readonly log: StoreLog;
}

/**
 * Detects commits of other nodes by notifications, and by polls of the store's head: slowly while notifications arrive, because one may
 * be lost and a restored database sends none, and fast while they do not. A poll that sees a commit without its notification makes
 * the polls fast until a round trip has shown that notifications arrive.
 */
export function watchPostgres({ connection, settings, onCommit, log }: WatchOptions): () => Promise<void> {
  let closed = false;
  let interval = fastInterval;
  let polled = -1;
  const notified = new Set<number>();
  const timers = new Set<NodeJS.Timeout>();

  const poller = new HeadPoller({
    connection,
    settings,
    interval: () => interval,
    onHead: (head) => {
      onCommit(head);
      if (head.version === polled) return;
      const first = polled === -1;
      polled = head.version;
      if (!first) expectNotification(head.version);
    },
  });
  const listener = new NotificationListener({
    connection,
    log,
    notify: (channel, payload) => poller.notify(channel, payload),
    onVersion: (version) => {
      notified.add(version);
      for (const oldest of notified) {
        if (notified.size <= maxNotified) break;
        notified.delete(oldest);
      }
      onCommit({ version, stamp: null });
    },
    onProven: (proven) => {
      if (closed) return;
      interval = proven ? slowInterval : fastInterval;
      if (!proven) poller.wake();
    },
  });

  function expectNotification(version: number): void {
    if (interval === fastInterval || notified.has(version)) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      if (!notified.has(version)) listener.suspect();
    }, grace).unref();
    timers.add(timer);
  }

  poller.start();
  listener.start();
  return async () => {
    closed = true;
    for (const timer of timers) clearTimeout(timer);
    // A server that hangs answers neither; the backend cuts the connections afterwards.
    await awaitWithTimeout(Promise.all([listener.close(), poller.close()]), closeLimit);
  };
}
