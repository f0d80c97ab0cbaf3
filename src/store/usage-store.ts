/** Length of the time that a row of usage is about. */
export type UsageResolution = 'minute' | 'hour' | 'day';

/** Which requests a row of usage counts. Ids of entities, which need not be there any more; '' for none. */
export interface UsageKey {
  readonly resolution: UsageResolution;
  /** Milliseconds since the epoch. */
  readonly start: number;
  /** Every node writes rows of its own. */
  readonly node: string;
  readonly route: string;
  readonly service: string;
  readonly consumer: string;
  readonly version: string;
  readonly status: number;
}

export interface UsageRow extends UsageKey {
  /** What was counted; the store does not look into it. */
  readonly data: string;
}

/** What an id was called when it was last seen; it outlives the entity. */
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
  /** Only rows whose field is one of these; a field that is not named is not looked at. */
  readonly where?: Readonly<Partial<Record<'node' | 'route' | 'service' | 'consumer' | 'version', readonly string[]>>>;
  /** Only rows with a status in one of these ranges, both ends included. */
  readonly statuses?: readonly (readonly [least: number, most: number])[];
  /** By start and the other fields of the key. Default: rising. */
  readonly order?: 'asc' | 'desc';
  /** Only rows strictly after this one in that order. */
  readonly after?: UsageKey;
  readonly limit: number;
}

/**
 * How the API is used, by time. Rows are no entities: nothing here waits for `write` or appears in `changes`. They survive the end of a
 * node; the last moments before a power cut, or a crash of the database server, may be lost.
 */
export interface UsageStore {
  /** Makes the rows, or puts them in the place of those with the same key: doing it again changes nothing. One transaction. */
  putUsage(rows: readonly UsageRow[], names: readonly UsageName[]): Promise<void>;
  readUsage(query: UsageQuery): Promise<readonly UsageRow[]>;
  /** Removes rows that began before that time, some hundreds at most. Returns how many. */
  deleteUsage(resolution: UsageResolution, before: number): Promise<number>;
  /** Names of these ids. */
  readUsageNames(kind: string, ids: readonly string[]): Promise<readonly UsageName[]>;
  /** Ids that were last seen under that name, a hundred at most. */
  findUsageNames(kind: string, name: string): Promise<readonly UsageName[]>;
  /** Removes names that were last seen before that time, some hundreds at most. Returns how many. */
  deleteUsageNames(before: number): Promise<number>;
}
