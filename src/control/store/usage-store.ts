/** The time span of a row of usage. */
export type UsageResolution = 'minute' | 'hour' | 'day';

/** The requests that a row of usage counts. Ids of entities, which may have been deleted; '' for none. */
export interface UsageKey {
  readonly resolution: UsageResolution;
  /** Milliseconds since the epoch. */
  readonly start: number;
  /** Each node writes its own rows. */
  readonly node: string;
  readonly route: string;
  readonly service: string;
  readonly consumer: string;
  readonly version: string;
  readonly status: number;
}

export interface UsageRow extends UsageKey {
  /** The counts; the store does not read them. */
  readonly data: string;
}

/** The name of an id when it was last seen; it outlives the entity. */
export interface UsageName {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly seen: number;
}

export interface UsageQuery {
  readonly resolution: UsageResolution;
  /** Rows whose start is from `from` to before `to`, milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  /** Only rows whose field is one of these; an absent field is not compared. */
  readonly where?: Readonly<Partial<Record<'node' | 'route' | 'service' | 'consumer' | 'version', readonly string[]>>>;
  /** Only rows with a status in one of these ranges, both ends included. */
  readonly statuses?: readonly (readonly [least: number, most: number])[];
  /** By start and the other fields of the key. Default: ascending. */
  readonly order?: 'asc' | 'desc';
  /** Only rows strictly after this one in that order. */
  readonly after?: UsageKey;
  readonly limit: number;
}

/**
 * Usage of the API, by time. Rows are not entities: nothing here waits for `write` or appears in `changes`. They survive the end of a
 * node; the last moments before a power cut, or a crash of the database server, may be lost.
 */
export interface UsageStore {
  /** Inserts the rows, or replaces those with the same key, so it can be repeated. One transaction. */
  putUsage(rows: readonly UsageRow[], names: readonly UsageName[]): Promise<void>;
  readUsage(query: UsageQuery): Promise<readonly UsageRow[]>;
  /** Removes rows that began before that time, at most some hundreds. Returns how many. */
  deleteUsage(resolution: UsageResolution, before: number): Promise<number>;
  /** Names of these ids. */
  readUsageNames(kind: string, ids: readonly string[]): Promise<readonly UsageName[]>;
  /** Ids that were last seen with that name, at most a hundred. */
  findUsageNames(kind: string, name: string): Promise<readonly UsageName[]>;
  /** Removes names that were last seen before that time, at most some hundreds. Returns how many. */
  deleteUsageNames(before: number): Promise<number>;
}
