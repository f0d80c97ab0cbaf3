import { hash } from 'node:crypto';
import { type Sealer, sessionKey } from '../../plugin-kit/auth/index.ts';
import { OutageLog } from '../../plugin-kit/logging/index.ts';
import { EntityAccessError, type EntityRow, type PluginTools, type RequestView } from '../../plugin-sdk/index.ts';
import { dueWork, expiryOf, isOver, type Lifetimes } from './lifetimes.ts';
import { decodeSession, encodeSession, type Session } from './session.ts';
import { type SessionStore, type StoreOptions, writeCookie } from './session-store.ts';

export interface StoredOptions extends StoreOptions {
  readonly tools: PluginTools;
  /** Encrypts the rows, so that reading the store does not reveal sessions. */
  readonly sealer: Sealer;
  /** Seconds for which a renewed session is still accepted. */
  readonly staleTtl: number;
  /** Maximum stored sessions of one credential; 0: no limit. */
  readonly maxPerCredential: number;
  /** When the last cookie of the session's login expires, in seconds since the epoch. */
  readonly lastExpiry: (session: Session) => number;
}

/**
 * The session is in a row of `sessions`, and the cookie names it. The first cookie contains the whole session, and
 * the row is inserted when that cookie comes back: clients that discard cookies leave no rows. Deleting the row ends
 * the session on all nodes.
 */
export class StoredSessions implements SessionStore {
  readonly lifetimes: Lifetimes;
  readonly #options: StoredOptions;
  readonly #outage: OutageLog;
  readonly #opened = new WeakMap<EntityRow, Session | null>();
  /** Sessions from cookies that had no row when they were read. */
  readonly #unstored = new WeakSet<Session>();
  /** Pending inserts, by the id of the session. */
  readonly #inserts = new Map<string, Promise<void>>();

  constructor(options: StoredOptions) {
    this.lifetimes = options.lifetimes;
    this.#options = options;
    this.#outage = new OutageLog(options.tools.log, 'sessions could not be stored');
  }

  read(request: RequestView): Session | null | Promise<Session | null> {
    const content = this.#options.cookie.read(request);
    const reference = content === null ? null : decodeReference(content);
    if (reference === null) return null;
    const found = this.#find(reference.id);
    return found instanceof Promise ? found.then((row) => this.#open(reference, row)) : this.#open(reference, found);
  }

  admitted(session: Session): void {
    if (!this.#unstored.has(session) || this.#inserts.has(session.id)) return;
    const now = this.#options.now();
    const used = dueWork(session, this.lifetimes, now) === 'use' ? { ...session, usedAt: now } : session;
    const stored = this.#inBackground(() => this.#insert(used));
    this.#inserts.set(
      session.id,
      stored.finally(() => this.#inserts.delete(session.id)),
    );
  }

  create(request: RequestView, session: Session): readonly string[] {
    return writeCookie(this.#options, request, encodeSession(session), session);
  }

  update(request: RequestView, session: Session): readonly string[] {
    const row = this.#find(session.id);
    // Its insert is pending or has failed.
    if (row === null) return this.create(request, session);
    void this.#inBackground(async () => {
      const found = await row;
      if (found !== null) await this.#options.tools.entities.update('sessions', found.id, this.#fields(session));
    });
    return writeCookie(this.#options, request, JSON.stringify([session.id]), session);
  }

  replace(request: RequestView, before: Session, session: Session): readonly string[] {
    void this.#inBackground(async () => {
      await this.#inserts.get(before.id);
      const row = await this.#find(before.id);
      if (row !== null) await this.#retire(row, before);
    });
    return this.create(request, session);
  }

  async destroy(session: Session): Promise<void> {
    // Otherwise the row would be inserted after its removal.
    await this.#inserts.get(session.id);
    const row = await this.#find(session.id);
    if (row !== null) await this.#options.tools.entities.delete('sessions', row.id);
  }

  clear(request: RequestView): readonly string[] {
    return this.#options.cookie.clear(request);
  }

  #find(id: string): EntityRow | null | Promise<EntityRow | null> {
    return this.#options.tools.entities.find('sessions', 'session_id', sessionKey(id));
  }

  async #insert(session: Session): Promise<void> {
    const { entities } = this.#options.tools;
    const subject = subjectOf(session);
    await this.#makeRoom(subject);
    const fields = { session_id: sessionKey(session.id), subject, login: sessionKey(session.login) };
    try {
      await entities.insert('sessions', { ...fields, ...this.#fields(session) });
    } catch (error) {
      // Another worker inserted it first.
      if (!(error instanceof EntityAccessError) || error.kind !== 'conflict') throw error;
    }
  }

  /** Removes the session of the credential that expires first: sessions in use expire later. */
  async #makeRoom(subject: string): Promise<void> {
    const { tools, maxPerCredential } = this.#options;
    if (maxPerCredential === 0) return;
    const rows = await tools.entities.list('sessions', 'subject', subject);
    if (rows.length < maxPerCredential) return;
    const [first] = [...rows].sort((one, other) => Number(one['expires']) - Number(other['expires']));
    if (first !== undefined) await tools.entities.delete('sessions', first.id);
  }

  /** The row stays as long as cookies of the session are valid: without it they would restore the session. */
  async #retire(row: EntityRow, session: Session): Promise<void> {
    const { tools, staleTtl, now } = this.#options;
    await tools.entities.update('sessions', row.id, this.#fields({ ...session, staleAt: now() + staleTtl }));
  }

  #fields(session: Session): Readonly<Record<string, unknown>> {
    const { now, sealer, lastExpiry } = this.#options;
    const expires = Math.ceil(expiryOf(session, this.lifetimes));
    const ttl = Math.ceil(Math.min(100_000_000, Math.max(1, expires - now())));
    const data = sealer.seal(encodeSession(session), expires);
    return { data, expires, login_expires: Math.ceil(lastExpiry(session)), ttl };
  }

  #open({ id, whole }: Reference, row: EntityRow | null): Session | null {
    if (row === null) {
      if (whole === null || isOver(whole, this.lifetimes, this.#options.now())) return null;
      this.#unstored.add(whole);
      return whole;
    }
    let session = this.#opened.get(row);
    if (session === undefined) {
      const text = this.#options.sealer.open(String(row['data'] ?? ''));
      session = text === null ? null : decodeSession(text);
      // The row contains another session.
      if (session !== null && session.id !== id) session = null;
      this.#opened.set(row, session);
    }
    return session === null || isOver(session, this.lifetimes, this.#options.now()) ? null : session;
  }

  /** The headers of a response cannot wait for the store. Never rejects. */
  async #inBackground(work: () => Promise<void>): Promise<void> {
    const { tools } = this.#options;
    try {
      await work();
    } catch (error) {
      tools.count('store_failures');
      this.#outage.failed(error);
    }
  }
}

/** The content of the cookie. */
interface Reference {
  readonly id: string;
  /** The session, in its first cookie. */
  readonly whole: Session | null;
}

function decodeReference(content: string): Reference | null {
  const whole = decodeSession(content);
  if (whole !== null) return { id: whole.id, whole };
  try {
    const parts: unknown = JSON.parse(content);
    const id: unknown = Array.isArray(parts) && parts.length === 1 ? parts[0] : null;
    return typeof id === 'string' ? { id, whole: null } : null;
  } catch {
    return null;
  }
}

function subjectOf({ consumerId, credentialId, identifier }: Session): string {
  return hash('sha256', JSON.stringify([consumerId, credentialId ?? identifier]), 'base64url');
}
