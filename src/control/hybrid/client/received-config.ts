import type { Row } from '../../../shared/entities/entity.ts';
import type { Change, ChangeBatch, Dump, FeedPosition, HistoryGap } from '../../store/store.ts';
import { MalformedMessage } from '../protocol/check-values.ts';
import type { ToDataPlane } from '../protocol/messages.ts';
import { unavailable } from '../protocol/wire-errors.ts';

type ConfigMessage = Extract<ToDataPlane, { readonly t: 'changes' | 'begin' | 'rows' | 'config' }>;

/** Changes that are kept for a publisher that reads them later; with more it reads everything again. */
const maxKeptChanges = 5000;

interface Step {
  readonly since: FeedPosition;
  readonly batch: ChangeBatch;
}

/** What the control plane has pushed, as the reader of a store wants it. */
export class ReceivedConfig {
  readonly #listeners = new Set<() => void>();
  readonly #steps: Step[] = [];
  /** Where the received changes end. */
  #head: FeedPosition | null;
  /** The control plane has confirmed on this connection that `head` is the newest position, or has moved it. */
  #synced = false;
  #dump: Dump | null = null;
  /** Changes of a step whose end has not arrived. */
  #partialStep: Change[] = [];
  #partialDump: Map<string, Row[]> | null = null;
  #wantsDump = false;
  #keptChanges = 0;
  #connection = 0;
  #currentAt = 0;

  /** `position`: of the config that the node has; null: none. */
  constructor(position: FeedPosition | null) {
    this.#head = position;
  }

  get head(): FeedPosition | null {
    return this.#head;
  }

  /** Milliseconds since the epoch; 0: never. */
  get currentAt(): number {
    return this.#currentAt;
  }

  get synced(): boolean {
    return this.#synced;
  }

  /**
   * Begins with another connection: the config of those before it is no longer accepted. `position`: where it continues; null:
   * everything is needed.
   */
  begin(): { readonly connection: number; readonly position: FeedPosition | null } {
    this.#connection++;
    this.disconnected();
    return { connection: this.#connection, position: this.#wantsDump ? null : this.#head };
  }

  disconnected(connection: number = this.#connection): void {
    if (connection !== this.#connection) return;
    this.#synced = false;
    this.#partialStep = [];
    this.#partialDump = null;
  }

  /** The control plane has answered: there is nothing new. */
  heard(connection: number): void {
    if (connection !== this.#connection || !this.#synced || this.#partialDump !== null) return;
    this.#currentAt = Date.now();
    this.#announce();
  }

  listen(listener: () => void): () => void {
    const entry = (): void => listener();
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  take(message: ConfigMessage, connection: number): void {
    if (connection !== this.#connection) return;
    switch (message.t) {
      case 'changes':
        this.#takeChanges(message.changes, message.position);
        break;
      case 'begin':
        this.#partialDump = new Map();
        this.#partialStep = [];
        break;
      case 'rows':
        this.#takeRows(message.entity, message.rows);
        break;
      case 'config':
        this.#takeConfig(message.position, message.rows);
    }
  }

  /** A step is never divided, whatever the limit of the reader. Throws a `StoreError`. */
  changesSince(position: FeedPosition): ChangeBatch | HistoryGap {
    const head = this.#head;
    if (head === null) throw unavailable('no config has been received from a control plane');
    if (isSame(position, head)) {
      if (this.#synced) return { changes: [], position };
    } else {
      const first = this.#steps.findIndex(({ since }) => isSame(since, position));
      if (first >= 0) {
        return { changes: this.#steps.slice(first).flatMap(({ batch }) => batch.changes), position: head };
      }
      if (this.#synced || this.#dump !== null) {
        return position.store === head.store && position.version <= head.version ? 'trimmed' : 'rewritten';
      }
    }
    throw unavailable('no control plane has confirmed the config');
  }

  /** The whole config, once. Null: it has to be requested; the next connection asks for it in any case. */
  takeDump(): Dump | null {
    const dump = this.#dump;
    this.#dump = null;
    if (dump !== null) return dump;
    this.#wantsDump = true;
    return null;
  }

  /** Rows of the whole config that have arrived; null: it is not on its way. */
  get receiving(): number | null {
    if (this.#partialDump === null) return null;
    return [...this.#partialDump.values()].reduce((sum, { length }) => sum + length, 0);
  }

  #takeChanges(changes: readonly Change[], position: FeedPosition | null): void {
    if (this.#partialDump !== null) throw new MalformedMessage('changes came within the config');
    for (const change of changes) this.#partialStep.push(change);
    if (position === null) return;
    const batch: ChangeBatch = { changes: this.#partialStep, position };
    this.#partialStep = [];
    const since = this.#head;
    if (since === null) throw new MalformedMessage('changes came before the config');
    this.#moved(position);
    if (!isSame(since, position)) {
      this.#steps.push({ since, batch });
      this.#keptChanges += batch.changes.length;
      while (this.#keptChanges > maxKeptChanges && this.#steps.length > 1) {
        this.#keptChanges -= this.#steps.shift()?.batch.changes.length ?? 0;
      }
    }
    this.#announce();
  }

  #takeRows(entity: string, rows: readonly Row[]): void {
    if (this.#partialDump === null) throw new MalformedMessage('rows came outside of the config');
    const known = this.#partialDump.get(entity);
    if (known === undefined) this.#partialDump.set(entity, [...rows]);
    else for (const row of rows) known.push(row);
  }

  #takeConfig(position: FeedPosition, count: number): void {
    const rows = this.#partialDump;
    this.#partialDump = null;
    if (rows === null) throw new MalformedMessage('the config ended before it began');
    const received = [...rows.values()].reduce((sum, { length }) => sum + length, 0);
    if (received !== count) throw new MalformedMessage('the config is not complete');
    this.#dump = { ...position, entities: Object.fromEntries(rows) };
    this.#wantsDump = false;
    this.#steps.length = 0;
    this.#keptChanges = 0;
    this.#moved(position);
    this.#announce();
  }

  #moved(position: FeedPosition): void {
    this.#head = position;
    this.#synced = true;
    this.#currentAt = Date.now();
  }

  #announce(): void {
    for (const listener of this.#listeners) listener();
  }
}

function isSame(one: FeedPosition, other: FeedPosition): boolean {
  return one.version === other.version && one.stamp === other.stamp && one.store === other.store;
}
