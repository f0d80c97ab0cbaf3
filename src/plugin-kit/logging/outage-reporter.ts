import type { PluginTools } from '../../plugin-sdk/tools.ts';
import { OutageLog, type OutageLogOptions } from '../../shared/util/time/outage-log.ts';

/** Reports a failure of another server. */
export interface OutageReporter {
  (error: unknown): void;
  /** Reports a success. Required only with the option `untilSuccess`. */
  succeeded(): void;
}

/**
 * Counts each failure of another server under `counter`, and logs failures as one outage: a line when it begins, one per minute with
 * the number of failures, and one when it is over.
 *
 * @example
 * const redisFailed = outageReporter(tools, 'redis_failures', 'Redis is unavailable');
 * await redis.run(script, [key], []).catch(redisFailed);
 */
export function outageReporter(
  tools: Pick<PluginTools, 'log' | 'count'>,
  counter: string,
  message: string,
  options: OutageLogOptions = {},
): OutageReporter {
  const outage = new OutageLog(tools.log, message, options);
  const failed = (error: unknown): void => {
    tools.count(counter);
    outage.failed(error);
  };
  return Object.assign(failed, { succeeded: () => outage.succeeded() });
}
