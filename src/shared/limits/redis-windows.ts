import type { WindowLimiter, WindowLimiterOptions, WindowVerdict } from '../../plugin-sdk/limits.ts';
import { acquireRedis, releaseRedis } from '../redis/acquire-redis.ts';
import { storedKey } from './counter-key.ts';
import { asLimiterUnavailable } from './redis/limiter-unavailable.ts';
import { windowScript } from './redis/window-script.ts';
import { verdictOf, type WindowCount } from './window-counts.ts';

/** Values that the script returns before those of the windows, and for each window. */
const head = 2;
const perWindow = 4;

/**
 * Windows counted in a Redis server, exact over all nodes: one script for each request, on Redis's clock. Rejects with
 * a `LimiterUnavailable`, at the latest after the server's timeout and at once while it is known to be unavailable.
 */
export function createRedisWindows(options: WindowLimiterOptions): WindowLimiter {
  const { redis, limits, now } = options;
  if (redis === undefined) throw new TypeError('the policy redis needs a Redis server');
  const sliding = options.windowType === 'sliding';
  const link = acquireRedis(redis);
  const windows = limits.flatMap(({ period, limit }) => [period, limit]);
  const sliding01 = sliding ? 1 : 0;
  let closed = false;

  async function run(mode: 'take' | 'add' | 'peek', key: string, cost: number): Promise<WindowVerdict> {
    const time = now === undefined ? '' : now();
    try {
      const answer = await link.run({
        script: windowScript,
        keys: [storedKey(options.namespace, key)],
        args: [mode, cost, sliding01, time, ...windows],
        binary: false,
      });
      return toVerdict(options, sliding, answer as readonly (string | number)[]);
    } catch (error) {
      throw asLimiterUnavailable(error);
    }
  }

  return {
    take: (key, cost = 1) => run('take', key, cost),
    add: (key, cost) => run('add', key, cost),
    peek: (key) => run('peek', key, 1),
    close() {
      if (closed) return;
      closed = true;
      releaseRedis(redis);
    },
  };
}

function toVerdict(
  { limits }: WindowLimiterOptions,
  sliding: boolean,
  answer: readonly (string | number)[],
): WindowVerdict {
  const at = (place: number): number => Number(answer[place]);
  const counts = limits.map((_, index): WindowCount => {
    const place = head + index * perWindow;
    return { start: at(place), end: at(place + 1), before: sliding ? at(place + 2) : 0, used: at(place + 3) };
  });
  return verdictOf(limits, counts, at(1), at(0) - 1);
}
