import type { EntityRegistry } from '../../../shared/entities/registry.ts';

export interface ExportOptions {
  readonly entities: EntityRegistry;
  /**
   * `kong`: every entity in a list of its kind, with ids, times and explicit nulls, as `GET /config` and `kong config db_export` have it.
   * `deck`: nested, sorted, without times and nulls, as `deck gateway dump` writes it.
   */
  readonly style: 'kong' | 'deck';
  readonly format: 'yaml' | 'json';
  /**
   * Style `deck`: include ids. Default false: only of entities without a name, and of all where there are basic-auth credentials, since
   * the hashes of Kong depend on the id of the consumer.
   */
  readonly withIds?: boolean;
  /** Style `deck`: written as `_info.select_tags`. The rows are those that have these tags. */
  readonly selectTags?: readonly string[];
  /** Milliseconds since the epoch: `ttl` is what is left then. */
  readonly now: number;
}
