import type { RedisOptions } from '../../plugin-sdk/redis-options.ts';
import { acquireRedis, releaseRedis } from '../../shared/redis/acquire-redis.ts';
import { RedisUnavailable } from '../../shared/redis/redis-errors.ts';
import { type RedisScript, redisScript } from '../../shared/redis/redis-script.ts';

export { type RedisScript, RedisUnavailable, redisScript };

/** A Redis server, the master that Sentinels name, or a cluster. Everything is a script: one atomic step, and one round trip. */
export interface RedisServer {
  /** True: each slot of keys has its own node. */
  readonly isCluster: boolean;
  /**
   * Numbers of the result are numbers, texts are buffers, nil is null. The keys of a script must have one hash tag
   * (`visits:{user}:day`): only such keys are on one node of a cluster. Rejects with a `RedisUnavailable`: after the timeouts of the
   * configuration at most, and at once while the server is known to be unavailable (it is then tried in the background).
   */
  run(script: RedisScript, keys: readonly string[], args: readonly (string | number | Uint8Array)[]): Promise<unknown>;
  /** Call it once, in `dispose`. The last user closes the connections. */
  close(): void;
}

/**
 * One connection of this worker to each server, shared by all users of the same configuration, but not with the limiters. Opened with
 * the first script.
 *
 * @throws TypeError without a host, Sentinels or cluster nodes.
 *
 * @example
 * const increment = redisScript("return redis.call('INCR', KEYS[1])"); // at the top of the module
 * const redis = openRedis(redisOptions(config.redis, tools.settings)); // in setup
 * const visits = Number(await redis.run(increment, [`visits:${tools.instanceId}`], []));
 */
export function openRedis(options: RedisOptions): RedisServer {
  const link = acquireRedis(options, 'bodies');
  let isClosed = false;
  return {
    isCluster: link.isCluster,
    run: (script, keys, args) => link.run({ script, keys, args, binary: true }),
    close() {
      if (isClosed) return;
      isClosed = true;
      releaseRedis(options, 'bodies');
    },
  };
}
