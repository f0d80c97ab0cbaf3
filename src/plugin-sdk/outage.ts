import { OutageLog, type OutageLogOptions } from '../util/outage-log.ts';
import type { PluginTools } from './define-plugin.ts';

/** Counts each failure of another server, and logs them as an outage; see `OutageLog`. */
export interface OutageReporter {
  (error: unknown): void;
  /** An attempt succeeded; needed where the outage ends with `untilSuccess`. */
  succeeded(): void;
}

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
