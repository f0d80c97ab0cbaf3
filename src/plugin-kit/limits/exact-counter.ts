import type { WindowPeriod, WindowVerdict } from '../../plugin-sdk/limits.ts';
import type { PluginTools } from '../../plugin-sdk/tools.ts';

/** For `exactCounter`. */
export interface ExactCounterOptions {
  /** Name of a declared zone of the kind `table`. */
  readonly zone: string;
  /** The calendar period (UTC) that is counted. */
  readonly period: WindowPeriod;
  /** `workers`: all workers of this node. `nodes`: all nodes that share the store; each call waits for the store. */
  readonly over: 'workers' | 'nodes';
  /** Tells several counters of an instance apart. Default: ''. */
  readonly name?: string;
  /** Clock in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

/** Counts per key and period. Without a promise for `workers`. For `nodes` it rejects with a `LimiterUnavailable`. */
export interface ExactCounter {
  /** Adds to the current period and returns its count afterwards. `by`: a whole number; default 1. */
  add(key: string, by?: number): number | Promise<number>;
  /** The count of the current period. */
  read(key: string): number | Promise<number>;
}

/** No count reaches it, and every sum with it is exact. */
const limit = 2 ** 50;

/**
 * Counts exactly over all workers, or over all nodes: for quotas and statistics that must not lose anything. It counts in the tables
 * of the limiters: when a zone is full, the counter that was not used for the longest time makes room.
 *
 * @example
 * const calls = exactCounter(tools, { zone: 'calls', period: 'month', over: 'nodes' }); // in setup
 * if ((await calls.add(consumer.id)) > 1000) return refuse(429, 'The month is used up');
 */
export function exactCounter(
  tools: Pick<PluginTools, 'limits' | 'instanceId'>,
  options: ExactCounterOptions,
): ExactCounter {
  const { zone, period, over, name = '', now } = options;
  const windows = tools.limits.windows({
    namespace: `count:${tools.instanceId}:${name}`,
    limits: [{ period, limit }],
    policy: over === 'nodes' ? 'cluster' : 'local',
    zone,
    ...(over === 'nodes' ? { exact: true } : {}),
    ...(now === undefined ? {} : { now }),
  });
  return {
    add: (key, by = 1) => counted(windows.add(key, by)),
    read: (key) => counted(windows.peek(key)),
  };
}

function counted(verdict: WindowVerdict | Promise<WindowVerdict>): number | Promise<number> {
  return verdict instanceof Promise ? verdict.then(countOf) : countOf(verdict);
}

function countOf({ windows }: WindowVerdict): number {
  return limit - (windows[0]?.remaining ?? limit);
}
