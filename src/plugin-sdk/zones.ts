/**
 * What a zone holds.
 *
 * - `table`: counters of limiters and circuits (`tools.limits`)
 * - `store`: entries of bytes (`sharedStore` of `plugin-kit/shared-memory`)
 * - `counts`: counters by label (`labelledCounts`)
 * - `series`: several numbers by label (`seriesWriter`)
 * - `raw`: bytes of the plugin's own format. The gateway neither reads nor writes them. A worker can end in the middle of a
 *   write, so the format must tolerate a partial one.
 */
export type ZoneKind = 'table' | 'store' | 'counts' | 'series' | 'raw';

/**
 * Shared memory that a plugin instance needs. All workers of the node see it, and it outlives a worker. Instances of one
 * plugin that request the same name and size share one zone; put the instance id in the name for a zone of its own.
 *
 * Every bundled plugin declares its zones in `zones.ts`.
 *
 * @example
 * export function zones(config: HelloConfig): readonly ZoneRequest[] {
 *   return config.limit === null ? [] : [{ name: 'greetings', bytes: 1024 * 1024 }];
 * }
 */
export interface ZoneRequest {
  readonly name: string;
  /** From 4,096 to 2,147,483,648; a `store` needs at least 262,144. */
  readonly bytes: number;
  /** Additional bytes for each worker of the node after the first. Default: 0. */
  readonly perWorker?: number;
  /** Default: `table`. */
  readonly kind?: ZoneKind;
}
