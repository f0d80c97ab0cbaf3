import type { RedisOptions } from '../../plugin-sdk/limits.ts';
import { acquireRedis, type RedisScript, redisScript, releaseRedis } from '../../shared/limits/redis/redis-link.ts';

export { type RedisScript, redisScript };

/** The server does not respond, or refuses. The message says which server and why, without secrets. */
export class RedisUnavailable extends Error {
  override readonly name = 'RedisUnavailable';
}

/** A Redis server. Everything is a script: one atomic step, and one round trip. */
export interface RedisServer {
  /**
   * Numbers of the result are numbers, texts are buffers, nil is null. Rejects with a `RedisUnavailable`: after the timeout of the
   * server at most, and at once while the server is known to be unavailable (it is then tried in the background).
   */
  run(script: RedisScript, keys: readonly string[], args: readonly (string | number | Uint8Array)[]): Promise<unknown>;
  /** Call it once, in `dispose`. The last user closes the connection. */
  close(): void;
}

/**
 * One connection of this worker, shared by all users of the same server and credentials, but not with the limiters. Opened with the
 * first script. A single server: Redis Cluster is not supported.
 *
 * @throws TypeError without a host.
 *
 * @example
 * const increment = redisScript("return redis.call('INCR', KEYS[1])"); // at the top of the module
 * const redis = openRedis(redisOptions(config.redis)); // in setup
 * const visits = Number(await redis.run(increment, [`visits:${tools.instanceId}`], []));
 */
export function openRedis(options: RedisOptions): RedisServer {
  if (options.host === null) throw new TypeError('a Redis server has a host');
  const link = acquireRedis(options, 'bodies');
  let isClosed = false;
  return {
    async run(script, keys, args) {
      try {
        return await link.runBinary(script, keys, args);
      } catch (error) {
        throw new RedisUnavailable(error instanceof Error ? error.message : String(error));
      }
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      releaseRedis(options, 'bodies');
    },
  };
}
