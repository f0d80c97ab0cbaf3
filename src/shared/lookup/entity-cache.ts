import { isDeepStrictEqual } from 'node:util';
import { consumerView, type EntityAccess, EntityAccessError, type EntityRow } from '../../plugin-sdk/entity-access.ts';
import type { ConsumerView } from '../../plugin-sdk/request-views.ts';
import { clientGroup, FairQueue, overloaded } from '../util/time/fair-queue.ts';
import { type Answer, AnswerTable, type Cell } from './answer-table.ts';
import type { Call, Found, Question, TouchedRow } from './calls.ts';

/** Calls the control plane; rejects with an `EntityAccessError`. */
export type CallControlPlane = (call: Call) => Promise<unknown>;

export interface EntityCacheOptions {
  readonly call: CallControlPlane;
  /** Answers cached for each field of each entity. Default 20,000. */
  readonly size?: number;
  /** Maximum concurrent lookups. Default 256. */
  readonly concurrency?: number;
  /** Maximum concurrent lookups of one client. Default: half. */
  readonly concurrencyPerClient?: number;
  /** Maximum queued lookups, at most half of them of one client. Default 4,096. */
  readonly maxWaiting?: number;
}

interface CachedEntity {
  readonly tables: Map<string, AnswerTable>;
  /** Every row that some answer contains. */
  readonly cells: Map<string, Cell>;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * A worker's cache of consumers and credentials. An answer is valid until one of its rows changes, until a row is added
 * that belongs to it, or until it expires. As changes are acknowledged like those of routes, a key is rejected from the
 * moment when the Admin API has confirmed its removal. While the store is unavailable, cached answers are still served.
 */
export class EntityCache implements EntityAccess {
  readonly #call: CallControlPlane;
  readonly #size: number;
  readonly #queue: FairQueue;
  readonly #entities = new Map<string, CachedEntity>();

  constructor(options: EntityCacheOptions) {
    const { call, size = 20_000, concurrency = 256, maxWaiting = 4096 } = options;
    const { concurrencyPerClient: concurrencyPerGroup = Math.ceil(concurrency / 2) } = options;
    this.#call = call;
    this.#size = size;
    this.#queue = new FairQueue({ concurrency, concurrencyPerGroup, maxWaiting });
  }

  find(entity: string, field: string, value: string, client = ''): EntityRow | null | Promise<EntityRow | null> {
    const rows = this.#table(entity, field).get(value);
    if (rows !== undefined) return rows[0] ?? null;
    return this.#fetch({ entity, field, value, many: false }, client).then(first);
  }

  list(entity: string, field: string, id: string, client = ''): readonly EntityRow[] | Promise<readonly EntityRow[]> {
    return this.#table(entity, field).get(id) ?? this.#fetch({ entity, field, value: id, many: true }, client);
  }

  consumer(idOrName: string, client = ''): ConsumerView | null | Promise<ConsumerView | null> {
    const known = this.#table('consumers', 'id').get(idOrName);
    if (known !== undefined && known[0] !== undefined) return consumerView(known[0]);
    const isId = idOrName.length === 36 && uuid.test(idOrName);
    const row = this.find('consumers', isId ? 'id' : 'username', isId ? idOrName.toLowerCase() : idOrName, client);
    if (row instanceof Promise) return row.then(viewOf);
    return row === null ? null : consumerView(row);
  }

  /** The rows that answer a lookup. */
  rows(question: Question): readonly EntityRow[] | Promise<readonly EntityRow[]> {
    return this.#table(question.entity, question.field).get(question.value) ?? this.#fetch(question, '');
  }

  /** Every answer with rows. */
  *answers(): Generator<readonly [Question, readonly EntityRow[]]> {
    for (const [entity, { tables }] of this.#entities) {
      for (const [field, table] of tables) {
        for (const [value, { rows, many }] of table.found()) yield [{ entity, field, value, many }, rows];
      }
    }
  }

  /** Adds an answer from elsewhere. */
  add(question: Question, rows: readonly EntityRow[]): void {
    this.#keep(question, this.#table(question.entity, question.field), rows);
  }

  async insert(entity: string, fields: Readonly<Record<string, unknown>>): Promise<EntityRow> {
    return (await this.#call({ method: 'insert', entity, fields })) as EntityRow;
  }

  async update(entity: string, id: string, fields: Readonly<Record<string, unknown>>): Promise<EntityRow | null> {
    return (await this.#call({ method: 'update', entity, id, fields })) as EntityRow | null;
  }

  async delete(entity: string, id: string): Promise<boolean> {
    return (await this.#call({ method: 'delete', entity, id })) as boolean;
  }

  /** These rows changed with this version of the store. */
  touch(rows: readonly TouchedRow[], version: number): void {
    for (const { entity, id, values } of rows) {
      const known = this.#entities.get(entity);
      if (known === undefined) continue;
      const cell = known.cells.get(id);
      if (cell !== undefined) {
        cell.stale = true;
        known.cells.delete(id);
      }
      known.tables.get('id')?.evict(id);
      for (const [field, value] of Object.entries(values)) known.tables.get(field)?.evict(value);
      outdate(known, version);
    }
  }

  /** No cached answer is reliable any more. */
  invalidateAll(version: number): void {
    this.invalidateAllExcept(nothingKept, version);
  }

  /** Only these answers, which were compared with the store, are still reliable. */
  invalidateAllExcept(kept: ReadonlySet<Answer>, version: number): void {
    for (const known of this.#entities.values()) {
      for (const table of known.tables.values()) {
        table.keepOnly(kept);
        for (const pending of table.pending.values()) {
          // The store may be older now, so the version that was needed before is meaningless.
          pending.neededVersion = version;
          pending.repeat = true;
        }
      }
    }
  }

  /** Replaces the cached answer with the store's current one. Null: there are no such rows. */
  refresh(question: Question, rows: readonly EntityRow[]): Answer | null {
    const table = this.#table(question.entity, question.field);
    const cells = this.#entities.get(question.entity)?.cells;
    for (const row of rows) {
      const cell = cells?.get(row.id);
      if (cell === undefined || isDeepStrictEqual(cell.row, row)) continue;
      cell.stale = true;
      cells?.delete(row.id);
    }
    const answer = this.#keep(question, table, rows);
    return answer.rows.length === 0 ? null : answer;
  }

  #table(entity: string, field: string): AnswerTable {
    const known = this.#entities.get(entity) ?? this.#addEntity(entity);
    const table = known.tables.get(field);
    if (table !== undefined) return table;
    const created = new AnswerTable(this.#size, (answer) => release(known, answer));
    known.tables.set(field, created);
    return created;
  }

  #addEntity(entity: string): CachedEntity {
    const known: CachedEntity = { tables: new Map(), cells: new Map() };
    this.#entities.set(entity, known);
    return known;
  }

  /** One lookup at a time for each value and client: sharing another client's would mean waiting in its queue. */
  #fetch(question: Question, client: string): Promise<readonly EntityRow[]> {
    const table = this.#table(question.entity, question.field);
    const group = clientGroup(client);
    const key = `${group}\0${question.value}`;
    const inFlight = table.pending.get(key);
    if (inFlight !== undefined) return inFlight.promise;
    const pending = { promise: this.#fetchQueued(question, table, key, group), neededVersion: -1, repeat: false };
    table.pending.set(key, pending);
    return pending.promise;
  }

  async #fetchQueued(
    question: Question,
    table: AnswerTable,
    key: string,
    group: string,
  ): Promise<readonly EntityRow[]> {
    try {
      const rows = await this.#queue.run(group, async () => {
        // Another client's lookup may have been answered meanwhile.
        return table.get(question.value) ?? (await this.#answer(question, table, key));
      });
      if (rows !== overloaded) return rows;
      throw new EntityAccessError('unavailable', 'too many lookups are waiting for the store');
    } finally {
      table.pending.delete(key);
    }
  }

  async #answer(question: Question, table: AnswerTable, key: string): Promise<readonly EntityRow[]> {
    for (;;) {
      const found = (await this.#call({ method: 'find', question })) as Found;
      // A row that changed while the lookup was in flight is read again.
      const pending = table.pending.get(key);
      if (pending !== undefined && (pending.repeat || found.version < pending.neededVersion)) {
        pending.repeat = false;
        continue;
      }
      return this.#keep(question, table, found.rows).rows;
    }
  }

  #keep(question: Question, table: AnswerTable, rows: readonly EntityRow[]): Answer {
    const known = this.#entities.get(question.entity) ?? this.#addEntity(question.entity);
    const now = Date.now();
    let expiresAt = Number.POSITIVE_INFINITY;
    const cells: Cell[] = [];
    for (const row of rows) {
      const expiry = row['expires_at'];
      if (typeof expiry === 'number') {
        if (expiry <= now) continue;
        expiresAt = Math.min(expiresAt, expiry);
      }
      const cell = known.cells.get(row.id) ?? { row, users: 0, stale: false };
      cell.users++;
      known.cells.set(row.id, cell);
      cells.push(cell);
    }
    const answer: Answer = { cells, rows: cells.map((cell) => cell.row), many: question.many, expiresAt };
    // The value may be a slice, which would retain the whole head of a request.
    table.set(Buffer.from(question.value).toString(), answer);
    return answer;
  }
}

const nothingKept: ReadonlySet<Answer> = new Set();

/** Answers in flight that were read before this version are of no use. */
function outdate(known: CachedEntity, version: number): void {
  for (const table of known.tables.values()) {
    for (const pending of table.pending.values()) pending.neededVersion = Math.max(pending.neededVersion, version);
  }
}

function release(known: CachedEntity, answer: Answer): void {
  for (const cell of answer.cells) {
    if (--cell.users === 0 && known.cells.get(cell.row.id) === cell) known.cells.delete(cell.row.id);
  }
}

function first(rows: readonly EntityRow[]): EntityRow | null {
  return rows[0] ?? null;
}

function viewOf(row: EntityRow | null): ConsumerView | null {
  return row === null ? null : consumerView(row);
}
