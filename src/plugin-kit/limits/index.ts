/**
 * What plugins with limits share, in addition to the limiters of `tools.limits`: `sluicegate/plugin-kit/limits`. Whose request it
 * is (`clientKey`), what happens without counters (`limiterGuard`), requests that are delayed (`DelayQueue`),
 * and counts without a limit (`exactCounter`).
 */

export { storedCounterKey } from '../../shared/limits/counter-key.ts';
export { parseRate } from '../../shared/util/time/rate.ts';
export { type ClientKeyOptions, type ClientKind, clientKey } from './client-key.ts';
export { type Delay, DelayQueue } from './delay-queue.ts';
export { type ExactCounter, type ExactCounterOptions, exactCounter } from './exact-counter.ts';
export { type LimiterGuard, limiterGuard } from './limiter-guard.ts';
