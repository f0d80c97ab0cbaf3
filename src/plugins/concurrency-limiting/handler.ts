import { clientKey, contextKey, type PluginPhases, type PluginTools, refuse } from '../../plugin-sdk/index.ts';
import type { ConcurrencyLimitingConfig } from './schema.ts';

/** Whose place the request holds; there is none when it was refused. */
const holderKey = contextKey<string>('holder');

/** Lets so many requests of one client be in flight, and refuses what comes while they are. */
export function limitConcurrency(config: ConcurrencyLimitingConfig, tools: PluginTools): PluginPhases {
  const limiter = tools.limits.concurrency({
    namespace: `concurrency-limiting:${tools.instanceId}`,
    limit: config.limit,
    zone: 'in-flight',
  });
  const identify = clientKey(config.limit_by, { header: config.header_name, ipv6Prefix: config.ipv6_prefix });
  // When a place becomes free nobody knows; a second keeps clients from trying again at once.
  const refusal = refuse(config.error_code, config.error_message, { 'Retry-After': '1' });
  return {
    access(context) {
      const key = identify(context);
      if (limiter.acquire(key) < 0) {
        tools.count('rejected');
        return refusal;
      }
      context.set(holderKey, key);
      return undefined;
    },
    // Comes once for each request, however it ended.
    log(context) {
      const key = context.get(holderKey);
      if (key !== undefined) limiter.release(key);
    },
  };
}
