import type { Row } from '../../shared/entities/entity.ts';
import type { Position } from './position.ts';

/** A row that a transaction has changed. */
export interface RowChange {
  readonly entity: string;
  readonly id: string;
  readonly operation: 'upsert' | 'delete';
  /** The row before; null for a new row, and for a cascaded deletion of what is not config. */
  readonly before: Row | null;
  /** The row after; null when it was deleted. */
  readonly after: Row | null;
  /**
   * `asked`: an operation named the row. `cascade`: it was deleted with that of `root`. `expired`: it had expired, and blocked a new
   * row.
   */
  readonly cause: 'asked' | 'cascade' | 'expired';
  /** Id of the row whose deletion caused it; '' unless `cascade`. */
  readonly root: string;
}

/** One record of who changed what. The columns can be filtered; the rest is in `body`. */
export interface AuditRecord {
  /** A UUID that increases with the time, so that records of one transaction keep their order. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** A stable name that is not a secret. */
  readonly actor: string;
  readonly method: string;
  /** Schema name and id of what was changed; null for an action. */
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

/** Records of who changed what. They are not entities: nothing here appears in `changes`, and workers do not receive them. */
export interface AuditStore {
  listAudit(query: AuditQuery): Promise<readonly AuditRecord[]>;
  getAudit(id: string): Promise<AuditRecord | null>;
  /** Removes records from before this instant, some thousands at most. Returns how many. */
  deleteAudit(before: number): Promise<number>;
}
