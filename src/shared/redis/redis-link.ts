import type { Evaluation } from './evaluate.ts';

/** A Redis server, the master that Sentinels name, or a cluster. */
export interface RedisLink {
  readonly isCluster: boolean;
  /**
   * Runs a script. Its keys have one hash tag, because a cluster keeps only those together. Rejects with a
   * `RedisUnavailable`: after the timeouts at most, and at once while the server is known to be unavailable.
   */
  run(evaluation: Evaluation): Promise<unknown>;
  /** Divides items into lists whose keys one script can use together. */
  group<T>(items: readonly T[], keyOf: (item: T) => string): readonly (readonly T[])[];
  close(): void;
}
