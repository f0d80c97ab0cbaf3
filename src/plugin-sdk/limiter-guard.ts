import type { PluginTools } from './define-plugin.ts';
import { LimiterUnavailable } from './limits.ts';
import type { Reply } from './reply.ts';

/** The log tells of counters that cannot be reached this often, in milliseconds. */
const interval = 10_000;

export interface LimiterGuard {
  /** Waits for what a limiter says, and goes on with it. */
  settle<T>(verdict: Promise<T>, judge: (verdict: T) => undefined | Reply): Promise<undefined | Reply>;
  /** The counters cannot be reached. */
  complain(error: unknown): void;
}

/**
 * What a plugin with limits does when the counters cannot be reached: it says so in the log now and then, counts it as
 * `limiter_failures`, and lets the request pass when it is fault tolerant, else fails it.
 */
export function limiterGuard(tools: PluginTools, faultTolerant: boolean): LimiterGuard {
  let lastComplaint = -interval;

  function complain(error: unknown): void {
    tools.count('limiter_failures');
    const now = performance.now();
    if (now - lastComplaint < interval) return;
    lastComplaint = now;
    const reason = error instanceof Error ? error.message : String(error);
    tools.log.error('the counters cannot be reached', { error: reason, fault_tolerant: faultTolerant });
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
