import { LimiterUnavailable } from '../../../plugin-sdk/limits.ts';
import { RedisUnavailable } from '../../redis/redis-errors.ts';

/** An outage of Redis as plugins see it; any other error unchanged. */
export function asLimiterUnavailable(error: unknown): unknown {
  return error instanceof RedisUnavailable ? new LimiterUnavailable(error.message) : error;
}
