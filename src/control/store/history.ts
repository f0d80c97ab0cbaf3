import type { Row } from '../../shared/entities/entity.ts';
import type { Position } from './position.ts';

/**
 * `write`: of the Admin API, or of a plugin. `apply`: a whole config. `rollback`: to an earlier version. `undo`: of what one version
 * has changed. `start`: the history begins with it.
 */
export type VersionAction = 'write' | 'apply' | 'rollback' | 'undo' | 'start';

/** Who makes a version, and how. */
export interface Attribution {
  /** A stable name that is not a secret; '' for the gateway itself. */
  readonly actor: string;
  readonly action: VersionAction;
  /** For people: `to version 17`. */
  readonly note?: string;
}

/** A version of the config: the state after one write. */
export interface ConfigVersion extends Required<Omit<Attribution, 'note'>> {
  /** The version of the store after the write. Versions ascend, with gaps. */
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly note: string | null;
  /** Numbers of entities. */
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
}

/** One entity that a version changed. */
export interface VersionChange {
  /** Position in the version, from 0. */
  readonly seq: number;
  readonly operation: 'create' | 'update' | 'delete';
  readonly entity: string;
  readonly id: string;
  /** The row before the version; null for a new one. */
  readonly before: Row | null;
  /** The row after it; null for a deleted one. */
  readonly after: Row | null;
}

/** A row of config that was changed after a version. */
export interface RowSince {
  readonly entity: string;
  readonly id: string;
  /** As it was in that version; null: it did not exist. */
  readonly was: Row | null;
  readonly now: Row | null;
}

export interface VersionQuery {
  /** Only versions that this actor made. */
  readonly actor?: string;
  /** Only versions that changed entities of this kind, by schema name; with `id`: that one entity. */
  readonly entity?: string;
  readonly id?: string;
  /** Only versions of this instant (milliseconds) or later. */
  readonly since?: number;
  /** By version. Ascending (oldest first) is the default. */
  readonly order?: 'asc' | 'desc';
  readonly after?: Position;
  readonly createdBefore?: number;
  readonly skip?: number;
  readonly limit: number;
}

/** The versions of the config. Rows in it contain secrets, as the rows of the entities do. */
export interface HistoryStore {
  listVersions(query: VersionQuery): Promise<readonly ConfigVersion[]>;
  getVersion(version: number): Promise<ConfigVersion | null>;
  /** What a version changed, by `seq`, after one. */
  listVersionChanges(
    version: number,
    page: { readonly after: number; readonly limit: number },
  ): Promise<readonly VersionChange[]>;
  /**
   * Every row of config that may differ between two versions: `was` as of `from`, `now` as of `to`; null: the current config. Both versions
   * are kept ones.
   */
  rowsBetween(from: number, to: number | null): Promise<readonly RowSince[]>;
  /**
   * Removes versions beyond the newest `keep` and those that ended before this instant, some thousand rows at most; the newest version
   * always stays. Returns how many rows were removed.
   */
  trimHistory(limits: { readonly keep: number; readonly before: number }): Promise<number>;
}
