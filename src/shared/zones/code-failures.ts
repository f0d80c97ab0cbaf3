import { CodeCount } from './code-counts.ts';

/** Failures of a plugin, and answers with a 5xx, below which new code is never worse. */
const leastFailures = 3;
const leastServerErrors = 5;

/**
 * Why new code of a plugin fails more often than the old; null: it does not. Both are rows of counts: of requests in which the plugin
 * ran, in the same time or before. Differences that chance explains do not count: each limit is several standard deviations away.
 */
export function failsMore(next: Uint32Array, old: Uint32Array): string | null {
  return (
    moreOften('the plugin failed', next, old, CodeCount.failures, leastFailures) ??
    moreOften('the answer was a 5xx', next, old, CodeCount.serverErrors, leastServerErrors)
  );
}

function moreOften(what: string, next: Uint32Array, old: Uint32Array, at: number, least: number): string | null {
  const [count, requests] = [next[at]!, Math.max(next[CodeCount.requests]!, next[at]!)];
  const [countBefore, before] = [old[at]!, old[CodeCount.requests]!];
  const expected = before === 0 ? 0 : (requests * countBefore) / before;
  const deviation = before === 0 ? 0 : Math.sqrt(expected * (1 + requests / before));
  if (count < least || count < expected + least + 4 * deviation) return null;
  return `${what} ${count} times in ${requests} requests; with the old code ${countBefore} times in ${before}`;
}
