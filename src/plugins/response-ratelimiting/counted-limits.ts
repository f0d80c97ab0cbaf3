import { type PluginTools, redisOptions, type WindowLimiter, type WindowPeriod } from '../../plugin-sdk/index.ts';
import type { ResponseRatelimitingConfig } from './schema.ts';

/** One of the things that are counted. */
export interface CountedLimit {
  readonly name: string;
  readonly limiter: WindowLimiter;
  /** Asking the limiter costs no promise. */
  readonly isLocal: boolean;
  readonly remainingHeader: string;
  /** In the order of the limiter's windows. */
  readonly windowHeaders: readonly { readonly limit: string; readonly remaining: string }[];
}

const periods: readonly WindowPeriod[] = ['second', 'minute', 'hour', 'day', 'month', 'year'];

export function countedLimits(
  config: ResponseRatelimitingConfig,
  tools: PluginTools,
  onAway: (error: Error) => void,
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
        zone: 'counters',
        redis: redisOptions(config.redis),
        whenAway: config.fault_tolerant ? 'local' : 'reject',
        onAway,
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
