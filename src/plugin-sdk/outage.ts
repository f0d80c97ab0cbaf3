import type { PluginTools } from './define-plugin.ts';

/** Counts failures of another server each time, and logs the same reason once a second at most. */
export function outageReporter(
  tools: Pick<PluginTools, 'log' | 'count'>,
  counter: string,
  message: string,
): (error: unknown) => void {
  let lastReason = '';
  let quietUntil = 0;
  return (error) => {
    tools.count(counter);
    const reason = error instanceof Error ? error.message : 'unknown';
    const now = performance.now();
    if (reason === lastReason && now < quietUntil) return;
    lastReason = reason;
    quietUntil = now + 1000;
    tools.log.error(message, { reason });
  };
}
