import type { WindowLimiter, WindowLimiterOptions } from '../plugin-sdk/limits.ts';
import type { LimitHost } from './limit-tools.ts';

/** Windows counted in a Redis server, exact over all nodes. */
export function createRedisWindows(_options: WindowLimiterOptions, _host: LimitHost): WindowLimiter {
  throw new Error('not there yet');
}
