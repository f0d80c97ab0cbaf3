import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  BoundedCache,
  type EntityRow,
  type PluginTools,
  type RequestView,
  type Sealer,
} from '../../plugin-sdk/index.ts';
import { expiryOf, isOver, type Lifetimes } from './lifetimes.ts';
import { decodeSession, encodeSession, type Session } from './session.ts';
import { type SessionStore, type StoreOptions, writeCookie } from './session-store.ts';

export interface StoredOptions extends StoreOptions {
  readonly tools: PluginTools;
  /** For the rows: their content is of no use to who can read the store. */
  readonly sealer: Sealer;
  /** Seconds for which a renewed session is still accepted. */
  readonly staleTtl: number;
}

/** The cookie names the session, and a row of `sessions` holds it. What ends the row ends the session, on all nodes. */
export class StoredSessions implements SessionStore {
  readonly lifetimes: Lifetimes;
  readonly #options: StoredOptions;
  readonly #opened = new WeakMap<EntityRow, Session | null>();
  /** Sessions whose rows are on their way to the store. */
  readonly #coming = new Map<string, Coming>();
  /** Sessions whose rows have been seen here: one that is gone will not come. */
  readonly #seen = new BoundedCache<string, true>(1000);

  constructor(options: StoredOptions) {
    this.lifetimes = options.lifetimes;
    this.#options = options;
  }

  read(request: RequestView): Session | null | Promise<Session | null> {
    const content = this.#options.cookie.read(request);
    const reference = content === null ? null : decodeReference(content);
    if (reference === null) return null;
    const coming = this.#coming.get(reference.id);
    if (coming !== undefined) return coming.session;
    const found = this.#find(reference.id);
    if (found instanceof Promise) return found.then((row) => this.#openOrWait(reference, row));
    return this.#openOrWait(reference, found);
  }

  create(request: RequestView, session: Session): readonly string[] {
    this.#keep(session, () => this.#insert(session));
    return this.#name(request, session);
  }

  update(request: RequestView, session: Session): readonly string[] {
    void this.#inBackground(async () => {
      const row = await this.#find(session.id);
      if (row !== null) await this.#options.tools.entities.update('sessions', row.id, this.#fields(session));
    });
    return this.#name(request, session);
  }

  replace(request: RequestView, before: Session, session: Session): readonly string[] {
    this.#keep(session, async () => {
      // A session that was ended meanwhile is not brought back by its renewal.
      const row = await this.#find(before.id);
      if (row !== null && (await this.#retire(row, before))) await this.#insert(session);
    });
    return this.#name(request, session);
  }

  async destroy(session: Session): Promise<void> {
    // Or its row would come after it was removed.
    await this.#coming.get(session.id)?.stored;
    const row = await this.#find(session.id);
    if (row !== null) await this.#options.tools.entities.delete('sessions', row.id);
  }

  clear(request: RequestView): readonly string[] {
    return this.#options.cookie.clear(request);
  }

  #find(id: string): EntityRow | null | Promise<EntityRow | null> {
    return this.#options.tools.entities.find('sessions', 'session_id', rowName(id));
  }

  async #insert(session: Session): Promise<void> {
    await this.#options.tools.entities.insert('sessions', {
      session_id: rowName(session.id),
      ...this.#fields(session),
    });
  }

  /** True when the row was still there. */
  async #retire(row: EntityRow, session: Session): Promise<boolean> {
    const { entities } = this.#options.tools;
    const { staleTtl } = this.#options;
    if (staleTtl <= 0) return entities.delete('sessions', row.id);
    const fields = { ...this.#fields({ ...session, stale: true }), ttl: Math.ceil(staleTtl) };
    return (await entities.update('sessions', row.id, fields)) !== null;
  }

  #fields(session: Session): Readonly<Record<string, unknown>> {
    const expires = Math.ceil(expiryOf(session, this.lifetimes));
    const left = Math.min(100_000_000, Math.max(1, expires - this.#options.now()));
    return { data: this.#options.sealer.seal(encodeSession(session), expires), expires, ttl: Math.ceil(left) };
  }

  #openOrWait(reference: Reference, row: EntityRow | null): Session | null | Promise<Session | null> {
    if (row !== null) return this.#open(reference.id, row);
    const mayCome = Date.now() - reference.writtenAt < youngest && this.#seen.get(reference.id) === undefined;
    return mayCome ? this.#await(reference) : null;
  }

  /** The answer that set the cookie may have overtaken the news of its row on the way to this worker. */
  async #await(reference: Reference): Promise<Session | null> {
    const end = performance.now() + patience;
    while (performance.now() < end) {
      await sleep(pause);
      const row = await this.#find(reference.id);
      if (row !== null) return this.#open(reference.id, row);
    }
    return null;
  }

  #open(id: string, row: EntityRow): Session | null {
    let session = this.#opened.get(row);
    if (session === undefined) {
      const text = this.#options.sealer.open(String(row['data'] ?? ''));
      session = text === null ? null : decodeSession(text);
      // A row under another's name is not taken.
      if (session !== null && session.id !== id) session = null;
      this.#opened.set(row, session);
      this.#seen.set(id, true);
    }
    return session === null || isOver(session, this.lifetimes, this.#options.now()) ? null : session;
  }

  #name(request: RequestView, session: Session): readonly string[] {
    return writeCookie(this.#options, request, JSON.stringify([session.id, Date.now()]), session);
  }

  #keep(session: Session, work: () => Promise<void>): void {
    const stored = this.#inBackground(work).finally(() => this.#coming.delete(session.id));
    this.#coming.set(session.id, { session, stored });
  }

  /** The head of an answer cannot wait for the store. Never rejects. */
  async #inBackground(work: () => Promise<void>): Promise<void> {
    const { tools } = this.#options;
    try {
      await work();
    } catch (error) {
      tools.count('store_failures');
      tools.log.error('a session could not be stored', { reason: error instanceof Error ? error.message : 'unknown' });
    }
  }
}

/** A session whose row is on its way to the store. */
interface Coming {
  readonly session: Session;
  /** Resolves when the row is there, or has failed to get there. */
  readonly stored: Promise<void>;
}

/** What the cookie holds. */
interface Reference {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly writtenAt: number;
}

/** Milliseconds: how old a cookie is whose row may not have arrived, how long it is waited for, and in which steps. */
const youngest = 3000;
const patience = 1500;
const pause = 20;

function decodeReference(content: string): Reference | null {
  try {
    const [id, writtenAt] = JSON.parse(content) as unknown[];
    return typeof id === 'string' && typeof writtenAt === 'number' ? { id, writtenAt } : null;
  } catch {
    return null;
  }
}

/** The id itself is kept from the store. */
function rowName(id: string): string {
  return hash('sha256', id, 'base64url');
}
