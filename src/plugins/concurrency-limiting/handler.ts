import { clientKey } from '../../plugin-kit/limits/index.ts';
import { contextKey, type PluginPhases, type PluginTools, refuse } from '../../plugin-sdk/index.ts';
import type { ConcurrencyLimitingConfig } from './schema.ts';
import { inFlightZone } from './zones.ts';

/** The key whose slot the request holds; missing when it was refused. */
const holderKey = contextKey<string>('holder');

/** Limits the requests of one client in flight, and refuses the rest. */
export function limitConcurrency(config: ConcurrencyLimitingConfig, tools: PluginTools): PluginPhases {
  const limiter = tools.limits.concurrency({
    namespace: `concurrency-limiting:${tools.instanceId}`,
    limit: config.limit,
    zone: inFlightZone,
  });
  const identify = clientKey(config.limit_by, { header: config.header_name, ipv6Prefix: config.ipv6_prefix });
  // Unknown when a slot becomes free; one second keeps clients from retrying at once.
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
    // Runs once for each request, whatever its outcome.
    log(context) {
      const key = context.get(holderKey);
      if (key !== undefined) limiter.release(key);
    },
  };
}
