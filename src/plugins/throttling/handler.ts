import {
  clientKey,
  contextKey,
  type PluginPhases,
  type PluginTools,
  parseRate,
  type Reply,
  refuse,
  type Turn,
  WaitingRoom,
} from '../../plugin-sdk/index.ts';
import type { ThrottlingConfig } from './schema.ts';

const turnKey = contextKey<Turn>('turn');

/** Waits shorter than this, in milliseconds, are less than what a timer is late by. */
const shortestWait = 1;

/** Lets requests go on at an even rate: those that come too early wait for their turn, and are refused when it is too far off. */
export function throttle(config: ThrottlingConfig, tools: PluginTools): PluginPhases {
  const rate = parseRate(config.rate) ?? 1;
  // The bucket refuses what would wait for too long, in the step that counts: what is refused takes nobody's turn.
  const capacity = config.burst + Math.min(config.queue_size, (config.max_wait / 1000) * rate);
  const bucket = tools.limits.bucket({
    namespace: `throttling:${tools.instanceId}`,
    rate,
    burst: capacity,
    zone: 'turns',
  });
  const room = new WaitingRoom(config.max_waiting);
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
      if (room.full && bucket.excess(key) > Math.max(0, config.burst - 1)) return reject(key, config.burst);
      const delay = bucket.take(key);
      if (delay < 0) return reject(key, capacity);
      const wait = delay - atOnce;
      if (wait < shortestWait) return undefined;
      if (room.full) return reject(key, config.burst);
      tools.count('delayed');
      context.log('throttled_ms', Math.ceil(wait));
      const turn = room.enter(wait);
      context.set(turnKey, turn);
      return turn.come;
    },
    // Comes also when the client has gone while it waited.
    log: (context) => context.get(turnKey)?.leave(),
  };
}
