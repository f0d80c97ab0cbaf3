import { OutageLog } from '../util/outage-log.ts';
import type { PluginTools } from './define-plugin.ts';
import { LimiterUnavailable } from './limits.ts';
import type { Reply } from './reply.ts';

export interface LimiterGuard {
  /** Waits for what a limiter says, and goes on with it. */
  settle<T>(verdict: Promise<T>, judge: (verdict: T) => undefined | Reply): Promise<undefined | Reply>;
  /** The counters are unavailable. */
  complain(error: unknown): void;
}

/**
 * What a plugin with limits does while the counters are unavailable: it logs the outage, counts it as
 * `limiter_failures`, and lets the request pass when it is fault tolerant, else fails it.
 */
export function limiterGuard(tools: PluginTools, faultTolerant: boolean): LimiterGuard {
  const outage = new OutageLog(tools.log, 'the counters are unavailable');

  function complain(error: unknown): void {
    tools.count('limiter_failures');
    outage.failed(error, { fault_tolerant: faultTolerant });
  }

  return {
    complain,
    async settle(verdict, judge) {
      try {
        return judge(await verdict);
      } catch (error) {
        if (!(error instanceof LimiterUnavailable)) throw error;
        complain(error);
        if (!faultTolerant) throw error;
        return undefined;
      }
    },
  };
}
