import { type PluginTools, redisOptions, type WindowLimiter, type WindowPeriod } from '../../plugin-sdk/index.ts';
import type { ResponseRatelimitingConfig } from './schema.ts';
import { countersZone } from './zones.ts';

/** One configured limit. */
export interface CountedLimit {
  readonly name: string;
  readonly limiter: WindowLimiter;
  /** The limiter is synchronous. */
  readonly isLocal: boolean;
  readonly remainingHeader: string;
  /** In the order of the limiter's windows. */
  readonly windowHeaders: readonly { readonly limit: string; readonly remaining: string }[];
}

const periods: readonly WindowPeriod[] = ['second', 'minute', 'hour', 'day', 'month', 'year'];

export function countedLimits(
  config: ResponseRatelimitingConfig,
  tools: PluginTools,
  onUnavailable: (error: Error) => void,
): readonly CountedLimit[] {
  return Object.entries(config.limits).map(([name, given]) => {
    const limits = periods.flatMap((period) => {
      const limit = given[period];
      return limit === null ? [] : [{ period, limit }];
    });
    return {
      name,
      limiter: tools.limits.windows({
        namespace: `response-ratelimiting:${tools.instanceId}:${name}`,
        limits,
        policy: config.policy ?? 'local',
        zone: countersZone,
        redis: redisOptions(config.redis, tools.settings),
        whenUnavailable: config.fault_tolerant ? 'local' : 'reject',
        onUnavailable,
      }),
      isLocal: (config.policy ?? 'local') === 'local',
      remainingHeader: `X-RateLimit-Remaining-${name}`,
      windowHeaders: limits.map(({ period }) => ({
        limit: `X-RateLimit-Limit-${name}-${period}`,
        remaining: `X-RateLimit-Remaining-${name}-${period}`,
      })),
    };
  });
}
