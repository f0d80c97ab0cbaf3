import { clientKey, type Delay, DelayQueue, parseRate } from '../../plugin-kit/limits/index.ts';
import { contextKey, type PluginPhases, type PluginTools, type Reply, refuse } from '../../plugin-sdk/index.ts';
import type { ThrottlingConfig } from './schema.ts';
import { bucketsZone } from './zones.ts';

const delayKey = contextKey<Delay>('delay');

/** Shorter delays, in milliseconds, are below the precision of timers. */
const shortestWait = 1;

/** Forwards requests at an even rate: requests that come too early are delayed, or refused if the delay would be too long. */
export function throttle(config: ThrottlingConfig, tools: PluginTools): PluginPhases {
  const rate = parseRate(config.rate) ?? 1;
  // The bucket refuses requests with too long a delay in the same atomic step: refused requests use no slot.
  const capacity = config.burst + Math.min(config.queue_size, (config.max_wait / 1000) * rate);
  const bucket = tools.limits.bucket({
    namespace: `throttling:${tools.instanceId}`,
    rate,
    burst: capacity,
    zone: bucketsZone,
  });
  const queue = new DelayQueue(config.max_waiting);
  const identify = clientKey(config.limit_by, { header: config.header_name, ipv6Prefix: config.ipv6_prefix });
  const atOnce = (config.burst / rate) * 1000;

  function reject(key: string, most: number): Reply {
    tools.count('rejected');
    const seconds = Math.max(1, Math.ceil((bucket.excess(key) + 1 - most) / rate));
    return refuse(config.error_code, config.error_message, { 'Retry-After': String(seconds) });
  }

  return {
    access(context) {
      const key = identify(context);
      // Nobody can wait any more: who is known to have to must not take a turn either.
      if (queue.full && bucket.excess(key) > Math.max(0, config.burst - 1)) return reject(key, config.burst);
      const delay = bucket.take(key);
      if (delay < 0) return reject(key, capacity);
      const wait = delay - atOnce;
      if (wait < shortestWait) return undefined;
      if (queue.full) return reject(key, config.burst);
      tools.count('delayed');
      context.log('throttled_ms', Math.ceil(wait));
      const delayed = queue.delay(wait);
      context.set(delayKey, delayed);
      return delayed.ended;
    },
    // Comes also when the client has gone while it waited.
    log: (context) => context.get(delayKey)?.cancel(),
  };
}
