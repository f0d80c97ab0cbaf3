import type { HybridTimes } from '../contract.ts';

const defaults: HybridTimes = { pingInterval: 5000, silence: 15_000, firstPause: 1000, maxPause: 10_000, leave: 2000 };

export function linkTimes(times: Partial<HybridTimes> = {}): HybridTimes {
  return { ...defaults, ...times };
}
