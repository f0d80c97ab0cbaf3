import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import type { StoreHead } from '../sql-backend.ts';
import { toHead } from '../store-head.ts';
import { applyToSession, type ConnectionSettings } from './connection-settings.ts';

export interface HeadPollerOptions {
  readonly connection: pg.ClientConfig;
  readonly settings: ConnectionSettings;
  readonly onHead: (head: StoreHead) => void;
  /** Milliseconds until the next poll. */
  readonly interval: () => number;
}

/** Milliseconds that the first statement waits for its answer; a connection without one is replaced. Doubled after each failure. */
const firstPatience = 2000;

/** Maximum pause after failures, in milliseconds. */
const maxPause = 1000;

type Statement = pg.QueryConfig & { readonly query_timeout: number };

/**
 * Reads the store's head at intervals, on a connection of its own: it waits for no other statement of the node. One statement of one
 * row, with the name of the schema, so that it costs one round trip through a pooler too.
 */
export class HeadPoller {
  readonly #options: HeadPollerOptions;
  readonly #maxPatience: number;
  #client: Promise<pg.Client> | null = null;
  #patience: number;
  #pause = 0;
  #closed = false;
  #sleep = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: HeadPollerOptions) {
    this.#options = options;
    this.#maxPatience = Math.max(firstPatience, options.settings.statementTimeout + 1000);
    this.#patience = firstPatience;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Polls at once. */
  wake(): void {
    this.#sleep.abort();
  }

  /** Sends a notification, on the connection of the poller. */
  async notify(channel: string, payload: string): Promise<void> {
    await this.#query('select pg_notify($1, $2)', [channel, payload]);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.wake();
    await this.#running;
    if (this.#client !== null) this.#drop(this.#client);
  }

  async #run(): Promise<void> {
    const { schema } = this.#options.settings;
    const text = `select * from ${schema === null ? '' : `${pg.escapeIdentifier(schema)}.`}store_version`;
    while (!this.#closed) {
      try {
        const [row] = await this.#query(text, []);
        if (row !== undefined && !this.#closed) this.#options.onHead(toHead(row));
        this.#pause = 0;
        this.#patience = firstPatience;
      } catch {
        // Callers of the store receive errors, and the listening connection reports them.
        this.#pause = Math.min(Math.max(this.#options.interval(), this.#pause * 2), maxPause);
        this.#patience = Math.min(this.#patience * 2, this.#maxPatience);
      }
      if (this.#closed) return;
      this.#sleep = new AbortController();
      await wait(Math.max(this.#pause, this.#options.interval()), null, {
        ref: false,
        signal: this.#sleep.signal,
      }).catch(() => undefined);
    }
  }

  async #query(text: string, values: readonly string[]): Promise<readonly StoreRow[]> {
    this.#client ??= this.#connect();
    const connected = this.#client;
    try {
      const statement: Statement = { text, values: [...values], query_timeout: this.#patience };
      return (await (await connected).query<StoreRow>(statement)).rows;
    } catch (error) {
      this.#drop(connected);
      throw error;
    }
  }

  async #connect(): Promise<pg.Client> {
    const { connection, settings } = this.#options;
    const client = new pg.Client(connection);
    // A statement that runs at that time rejects too.
    client.on('error', () => undefined);
    try {
      await client.connect();
      await applyToSession(client, settings, this.#patience);
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
    return client;
  }

  #drop(connected: Promise<pg.Client>): void {
    if (this.#client === connected) this.#client = null;
    connected.then((client) => client.end()).catch(() => undefined);
  }
}

type StoreRow = Record<string, string | number | null>;
