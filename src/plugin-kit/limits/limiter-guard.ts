import { LimiterUnavailable } from '../../plugin-sdk/limits.ts';
import type { Reply } from '../../plugin-sdk/reply.ts';
import type { PluginTools } from '../../plugin-sdk/tools.ts';
import { OutageLog } from '../../shared/util/time/outage-log.ts';

export interface LimiterGuard {
  /** Awaits the verdict of a limiter and applies `decide` to it. Without a verdict, undefined or a rejection. */
  settle<T>(verdict: Promise<T>, decide: (verdict: T) => undefined | Reply): Promise<undefined | Reply>;
  /** Reports that the counters are unavailable. */
  report(error: unknown): void;
}

/**
 * What a plugin with limits does while the counters are unavailable: it logs the outage, counts it as `limiter_failures`, and
 * accepts the request if it is fault tolerant; otherwise `settle` rejects.
 */
export function limiterGuard(tools: PluginTools, faultTolerant: boolean): LimiterGuard {
  const outage = new OutageLog(tools.log, 'the counters are unavailable');

  function report(error: unknown): void {
    tools.count('limiter_failures');
    outage.failed(error, { fault_tolerant: faultTolerant });
  }

  return {
    report,
    async settle(verdict, decide) {
      try {
        return decide(await verdict);
      } catch (error) {
        if (!(error instanceof LimiterUnavailable)) throw error;
        report(error);
        if (!faultTolerant) throw error;
        return undefined;
      }
    },
  };
}
