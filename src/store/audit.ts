import type { Row } from '../entities/entity.ts';
import type { Position } from './store.ts';

/** A row that a transaction has changed. */
export interface RowChange {
  readonly entity: string;
  readonly id: string;
  readonly operation: 'upsert' | 'delete';
  /** As it was; null for a new row, and for one that went along with another. */
  readonly before: Row | null;
  /** As it is; null when it is gone. */
  readonly after: Row | null;
  /**
   * `asked`: an operation named the row. `cascade`: it went along with the one of `root`. `expired`: its time was over, and it stood in
   * the way.
   */
  readonly cause: 'asked' | 'cascade' | 'expired';
  /** Id of the row whose deletion took it along; '' unless `cascade`. */
  readonly root: string;
}

/** One record of who changed what. The columns are what records are looked for by; the rest is in `body`. */
export interface AuditRecord {
  /** A UUID whose text grows with the time, so that records of one transaction keep their order. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** A name that stays the same and is no secret. */
  readonly actor: string;
  readonly method: string;
  /** Schema name and id of what was changed; null for what is no entity. */
  readonly entity: string | null;
  readonly entityId: string | null;
  readonly requestId: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface AuditQuery {
  /** Equality. */
  readonly where?: Readonly<Partial<Record<'actor' | 'method' | 'entity' | 'entityId' | 'requestId', string>>>;
  /** Only records of this instant (milliseconds) or later. */
  readonly since?: number;
  /** By `(createdAt, id)`. Ascending (oldest first) is the default. */
  readonly order?: 'asc' | 'desc';
  readonly after?: Position;
  /** Only records strictly before this instant. */
  readonly createdBefore?: number;
  readonly skip?: number;
  readonly limit: number;
}

/** Records of who changed what. They are no entities: nothing here appears in `changes`, and no worker hears of it. */
export interface AuditStore {
  listAudit(query: AuditQuery): Promise<readonly AuditRecord[]>;
  getAudit(id: string): Promise<AuditRecord | null>;
  /** Removes records from before this instant, some thousands at most. Returns how many. */
  deleteAudit(before: number): Promise<number>;
}
