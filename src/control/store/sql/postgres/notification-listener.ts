import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { awaitWithTimeout } from '../../../../shared/util/time/await-with-timeout.ts';
import type { StoreLog } from '../sql-backend.ts';

export const changesChannel = 'sluicegate_changes';

export interface NotificationListenerOptions {
  readonly connection: pg.ClientConfig;
  readonly log: StoreLog;
  readonly onVersion: (version: number) => void;
  /** Whether notifications arrive: false until a round trip has shown it, and after the connection was lost. */
  readonly onProven: (proven: boolean) => void;
  /** Sends a notification on another connection. */
  readonly notify: (channel: string, payload: string) => Promise<void>;
}

const firstRetryDelay = 200;
const maxRetryDelay = 5000;

/** Milliseconds that a notification of its own may take, and how often it is tried. */
const probeTimeout = 1000;
const probeAttempts = 2;

/** Milliseconds until notifications are tried again where they do not arrive. */
const unheardDelay = 60_000;

/**
 * Receives the notifications of commits on a connection of its own, which is opened again when it is lost. It sends itself a
 * notification to learn whether they arrive: a pooler that lends connections for a transaction accepts LISTEN and forwards nothing.
 * Nothing else runs on the connection, because such a pooler would deliver what is waiting together with the next answer.
 */
export class NotificationListener {
  readonly #options: NotificationListenerOptions;
  readonly #probeChannel = `sluicegate_probe_${randomUUID().replaceAll('-', '')}`;
  readonly #closing = new AbortController();
  readonly #closed: Promise<void>;
  #client: pg.Client | null = null;
  #suspect: () => void = () => undefined;
  #heard: (payload: string) => void = () => undefined;
  #reported: 'nothing' | 'lost' | 'unheard' = 'nothing';
  #running: Promise<void> = Promise.resolve();

  constructor(options: NotificationListenerOptions) {
    this.#options = options;
    this.#closed = new Promise((resolve) => this.#closing.signal.addEventListener('abort', () => resolve()));
  }

  start(): void {
    this.#running = this.#run();
  }

  /** A commit was seen without its notification: another round trip shows whether they still arrive. */
  suspect(): void {
    this.#suspect();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#running, this.#client?.end().catch(() => undefined)]);
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let delay = firstRetryDelay;
    while (!signal.aborted) {
      let pause = unheardDelay;
      try {
        await this.#listen(() => {
          delay = firstRetryDelay;
        });
      } catch (error) {
        pause = delay;
        delay = Math.min(delay * 2, maxRetryDelay);
        this.#report('lost', error instanceof Error ? error.message : String(error));
      }
      await wait(pause, null, { ref: false, signal }).catch(() => undefined);
    }
  }

  /** Returns when notifications do not arrive; rejects when the connection is lost. */
  async #listen(proven: () => void): Promise<void> {
    const client = new pg.Client(this.#options.connection);
    this.#client = client;
    const lost = new Promise<never>((_, reject) => {
      client.on('error', reject);
      client.on('end', () => reject(new Error('the connection was closed')));
    });
    lost.catch(() => undefined);
    client.on('notification', ({ channel, payload = '' }) => {
      if (channel === this.#probeChannel) this.#heard(payload);
      else this.#announce(Number(payload));
    });
    try {
      await client.connect();
      await client.query(`listen ${changesChannel}; listen ${this.#probeChannel}`);
      let heard = false;
      while (await Promise.race([this.#probe(), lost])) {
        heard = true;
        proven();
        this.#report('nothing', '');
        this.#options.onProven(true);
        const suspected = new Promise<void>((resolve) => {
          this.#suspect = resolve;
        });
        await Promise.race([suspected, lost, this.#closed]);
        if (this.#closing.signal.aborted) return;
        this.#options.onProven(false);
      }
      if (this.#closing.signal.aborted) return;
      if (heard) throw new Error('notifications no longer arrive');
      this.#report('unheard', '');
      await client.query('unlisten *');
    } finally {
      this.#options.onProven(false);
      client.end().catch(() => undefined);
    }
  }

  async #probe(): Promise<boolean> {
    for (let attempt = 0; attempt < probeAttempts && !this.#closing.signal.aborted; attempt++) {
      const nonce = randomUUID();
      const heard = new Promise<void>((resolve) => {
        this.#heard = (payload) => {
          if (payload === nonce) resolve();
        };
      });
      await this.#options.notify(this.#probeChannel, nonce);
      if (await awaitWithTimeout(Promise.race([heard, this.#closed]), probeTimeout)) {
        return !this.#closing.signal.aborted;
      }
    }
    return false;
  }

  #announce(version: number): void {
    if (Number.isSafeInteger(version) && !this.#closing.signal.aborted) this.#options.onVersion(version);
  }

  /** Once for each change of the state. */
  #report(state: 'nothing' | 'lost' | 'unheard', reason: string): void {
    if (state === this.#reported || this.#closing.signal.aborted) return;
    const { log } = this.#options;
    if (state === 'lost') {
      log.warn(`the change feed lost its connection; polling for changes until it is connected again: ${reason}`);
    } else if (state === 'unheard') {
      log.info('notifications of the database do not arrive, as through a pooler: the change feed polls for changes');
    } else if (this.#reported === 'lost') log.info('the change feed is connected again');
    this.#reported = state;
  }
}
