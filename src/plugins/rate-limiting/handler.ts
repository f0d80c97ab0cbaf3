import type { ClientKeyOptions, Delay } from '../../plugin-kit/limits/index.ts';
import { clientKey, DelayQueue, limiterGuard, parseRate } from '../../plugin-kit/limits/index.ts';
import {
  type AccessContext,
  contextKey,
  type HeaderFilterContext,
  type PluginPhases,
  type PluginTools,
  type Reply,
  redisOptions,
  refuse,
  type WindowVerdict,
} from '../../plugin-sdk/index.ts';
import { LimitHeaders } from './limit-headers.ts';
import type { RateLimitingConfig } from './schema.ts';
import { countersZone, periods, rateZone } from './zones.ts';

type Outcome = undefined | Reply;

/** Maximum requests of one instance that wait in a worker: each of them holds a connection. */
const maxWaiting = 10_000;

const delayKey = contextKey<Delay>('delay');
const verdictKey = contextKey<WindowVerdict>('verdict');

/** Limits by window, by rate, or both: the rate is checked first, because it recovers soonest. */
export function limitRate(config: RateLimitingConfig, tools: PluginTools): PluginPhases {
  const steady = config.rate === null ? null : steadyRate(config, tools);
  const windows = hasWindows(config) ? limitWindows(config, tools) : null;
  if (windows === null) return steady ?? {};
  if (steady === null) return windows;
  return {
    ...steady,
    ...windows,
    access(context) {
      const outcome = steady.access(context);
      if (outcome instanceof Promise) return outcome.then((reply) => reply ?? windows.access(context));
      return outcome ?? windows.access(context);
    },
  };
}

interface Limiting extends PluginPhases {
  access(context: AccessContext): Outcome | Promise<Outcome>;
}

function hasWindows(config: RateLimitingConfig): boolean {
  return periods.some((period) => config[period] !== null);
}

function limitWindows(config: RateLimitingConfig, tools: PluginTools): Limiting {
  const limits = periods.flatMap((period) => {
    const limit = config[period];
    return limit === null ? [] : [{ period, limit }];
  });
  const guard = limiterGuard(tools, config.fault_tolerant);
  const limiter = tools.limits.windows({
    namespace: `rate-limiting:${tools.instanceId}`,
    limits,
    policy: config.policy ?? 'local',
    windowType: config.window_type,
    zone: countersZone,
    redis: redisOptions(config.redis, tools.settings),
    whenUnavailable: config.fault_tolerant ? 'local' : 'reject',
    onUnavailable: guard.report,
    syncRate: config.sync_rate,
  });
  const identify = clientKey(config.limit_by ?? 'consumer', keyOptions(config));
  const headers = new LimitHeaders(limits);
  const { status, message } = refusalOf(config);

  function decide(context: AccessContext, verdict: WindowVerdict): Outcome {
    if (!config.hide_client_headers) context.set(verdictKey, verdict);
    if (verdict.allowed) return undefined;
    if (config.dry_run) {
      noteDryRun(context, tools, 'rejected');
      return undefined;
    }
    tools.count('rejected');
    return refuse(status, message, retryAfter(headers.secondsUntilRoom(verdict), config));
  }

  return {
    access(context) {
      const verdict = limiter.take(identify(context));
      return verdict instanceof Promise
        ? guard.settle(verdict, (settled) => decide(context, settled))
        : decide(context, verdict);
    },
    ...(config.hide_client_headers
      ? {}
      : {
          headerFilter(context: HeaderFilterContext): void {
            const verdict = context.get(verdictKey);
            if (verdict !== undefined) headers.write(context.response, verdict);
          },
        }),
    dispose: () => limiter.close(),
  };
}

function retryAfter(seconds: number, config: RateLimitingConfig): Readonly<Record<string, string>> {
  return config.hide_client_headers ? {} : { 'Retry-After': String(seconds) };
}

function steadyRate(config: RateLimitingConfig, tools: PluginTools): Limiting {
  const rate = parseRate(config.rate ?? '') ?? 1;
  const bucket = tools.limits.bucket({
    namespace: config.zone === null ? `${tools.instanceId}:` : '',
    rate,
    burst: config.burst,
    zone: rateZone(config, tools.instanceId),
  });
  const identify = clientKey(config.rate_by, keyOptions(config));
  const queue = new DelayQueue(maxWaiting);
  const { status, message } = refusalOf(config);

  function reject(context: AccessContext, key: string): Outcome {
    if (config.dry_run) {
      noteDryRun(context, tools, 'rejected');
      return undefined;
    }
    tools.count('rejected');
    const seconds = (bucket.excess(key) + 1 - config.burst) / rate;
    return refuse(status, message, retryAfter(Math.max(1, Math.ceil(seconds)), config));
  }

  return {
    access(context) {
      const key = identify(context);
      const delay = bucket.take(key);
      if (delay < 0) return reject(context, key);
      if (delay < 1 || config.nodelay) return undefined;
      if (config.dry_run) {
        noteDryRun(context, tools, 'delayed');
        return undefined;
      }
      if (queue.full) return reject(context, key);
      tools.count('delayed');
      const delayed = queue.delay(delay);
      context.set(delayKey, delayed);
      return delayed.ended;
    },
    // Comes also when the client has gone while it waited.
    log: (context) => context.get(delayKey)?.cancel(),
  };
}

function keyOptions(config: RateLimitingConfig): ClientKeyOptions {
  return { header: config.header_name, path: config.path, ipv6Prefix: config.ipv6_prefix };
}

function refusalOf(config: RateLimitingConfig): { readonly status: number; readonly message: string } {
  return { status: config.error_code ?? 429, message: config.error_message ?? 'API rate limit exceeded' };
}

function noteDryRun(context: AccessContext, tools: PluginTools, what: 'rejected' | 'delayed'): void {
  tools.count(`dry_run_${what}`);
  context.log('rate_limiting_dry_run', what);
}
