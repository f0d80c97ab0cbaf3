import { acquireRedis, type RedisScript, redisScript, releaseRedis } from '../limits/redis/redis-link.ts';
import type { RedisOptions } from './limits.ts';

export { type RedisScript, redisScript };

/** The server does not answer, or refuses; the message says which server and why, and holds no secret. */
export class RedisUnavailable extends Error {
  override readonly name = 'RedisUnavailable';
}

/** A Redis server as a plugin uses it: by scripts, each one atomic step and one exchange. */
export interface RedisServer {
  /**
   * Numbers of the answer are numbers, texts are bytes, nil is null. Rejects with a `RedisUnavailable` at the latest after
   * the server's time-out, and at once while the server is known to be away: then it is tried in the background.
   */
  run(script: RedisScript, keys: readonly string[], args: readonly (string | number | Uint8Array)[]): Promise<unknown>;
  /** To be called once. The connection ends with the last who uses it. */
  close(): void;
}

/**
 * A server by one connection of this worker, shared by all that name the same server and credentials, and apart from that of
 * the limiters. It is opened with the first script. A single server: commands are not spread over a cluster.
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
