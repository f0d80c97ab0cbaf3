import { setTimeout as sleep } from 'node:timers/promises';
import type { PublisherLog } from '../../publish/publisher-options.ts';
import type { HybridTimes } from '../contract.ts';
import { unavailable } from '../protocol/wire-errors.ts';
import { LinkRefused, type LinkSession } from './link-session.ts';

export interface LinkConnectorOptions {
  /** In the order of preference; at least one. */
  readonly addresses: readonly string[];
  readonly open: (address: string) => Promise<LinkSession>;
  readonly times: HybridTimes;
  /** Milliseconds for which calls wait after the connection was lost, or before there was one. */
  readonly patience: number;
  readonly log: PublisherLog;
}

/**
 * Keeps one connection to one of the control planes. It begins with the first address, and goes to the next one when that fails. A
 * connection that works is kept, also when an address before it is available again: otherwise all data planes would move together.
 * Every pause is random, for the same reason.
 */
export class LinkConnector {
  readonly #options: LinkConnectorOptions;
  readonly #waiting = new Set<(session: LinkSession | null) => void>();
  readonly #closing = new AbortController();
  #current: LinkSession | null = null;
  #next = 0;
  /** Attempts since the last connection. */
  #failures = 0;
  #lostAt = performance.now();
  #problem = 'there is no connection to a control plane yet';
  #reported: string | null = null;

  constructor(options: LinkConnectorOptions) {
    this.#options = options;
    void this.#run();
  }

  get current(): LinkSession | null {
    return this.#current;
  }

  /** The connection. Rejects with a `StoreError` when there is none within the time. */
  async session(): Promise<LinkSession> {
    if (this.#current !== null) return this.#current;
    const left = this.#lostAt + this.#options.patience - performance.now();
    if (left > 0 && !this.#closing.signal.aborted) {
      const session = await this.#wait(left);
      if (session !== null) return session;
    }
    throw unavailable(this.#problem);
  }

  close(): void {
    this.#closing.abort();
    this.#problem = 'the store is closed';
    this.#give(null);
    this.#current?.close();
    this.#current = null;
  }

  #wait(milliseconds: number): Promise<LinkSession | null> {
    return new Promise((resolve) => {
      const finish = (session: LinkSession | null): void => {
        clearTimeout(timer);
        this.#waiting.delete(finish);
        resolve(session);
      };
      const timer = setTimeout(() => finish(null), milliseconds);
      this.#waiting.add(finish);
    });
  }

  #give(session: LinkSession | null): void {
    for (const finish of [...this.#waiting]) finish(session);
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const before = this.#current;
      const session = await this.#attempt();
      if (signal.aborted) {
        session?.close();
        return;
      }
      if (session !== null) {
        this.#connected(session);
        void before?.retire();
        await this.#stay(session);
      }
    }
  }

  /** Resolves when this control plane has to be left, or is lost; and when it is time for the next attempt. */
  async #stay(session: LinkSession): Promise<void> {
    const within = await Promise.race([session.leaving, session.closed.then(() => null)]);
    this.#next++;
    if (within !== null) {
      this.#options.log.log('notice', 'the control plane stops; connecting to another one', {
        address: session.address,
      });
      void session.closed.then((reason) => this.#lost(session, reason));
      // Calls still use the connection.
      await this.#pause(Math.random() * within, session.closed);
      return;
    }
    this.#lost(session, await session.closed);
    await this.#pause(Math.random() * this.#options.times.firstPause);
  }

  async #attempt(): Promise<LinkSession | null> {
    const { addresses, open, log, times } = this.#options;
    const address = addresses[this.#next % addresses.length] ?? '';
    try {
      return await open(address);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#next++;
      this.#failures++;
      this.#problem = `the control plane ${address} cannot be used: ${reason}`;
      // Each reason once, not with each attempt.
      if (!this.#closing.signal.aborted && this.#reported !== this.#problem) {
        this.#reported = this.#problem;
        log.log('error', 'a control plane cannot be used', { address, reason });
      }
      const round = Math.floor(this.#failures / addresses.length);
      const longest = Math.min(times.firstPause * 2 ** Math.min(round, 20), times.maxPause);
      const wanted = error instanceof LinkRefused ? (error.retryAfter ?? 0) : 0;
      await this.#pause(Math.random() * longest + (addresses.length === 1 ? wanted : 0));
      return null;
    }
  }

  #connected(session: LinkSession): void {
    this.#current = session;
    this.#failures = 0;
    this.#reported = null;
    const { address, peer } = session;
    this.#options.log.log('notice', 'connected to a control plane', { address, ...peer });
    this.#give(session);
  }

  #lost(session: LinkSession, reason: string): void {
    if (this.#current !== session) return;
    this.#current = null;
    this.#lostAt = performance.now();
    this.#problem = `the connection to the control plane ${session.address} was lost: ${reason}`;
    if (this.#closing.signal.aborted) return;
    this.#options.log.log('warn', 'the connection to the control plane was lost', { address: session.address, reason });
  }

  async #pause(milliseconds: number, orUntil?: Promise<unknown>): Promise<void> {
    const elapsed = sleep(milliseconds, undefined, { signal: this.#closing.signal }).catch(() => undefined);
    await (orUntil === undefined ? elapsed : Promise.race([elapsed, orUntil]));
  }
}
