/**
 * Work and memory within a worker: `sluicegate/plugin-kit/runtime`. `offThread` runs work over about 10 ms in another thread,
 * `FairQueue` bounds work of clients and schedules them fairly, `BoundedCache` keeps results, `flushLater` ends work together with that of other requests, `fractionOf` samples by a key, `compileRegex` makes regular
 * expressions that take linear time.
 */

export { BoundedCache } from '../../shared/util/bounded-cache.ts';
export { compileRegex } from '../../shared/util/linear-regex.ts';
export { mayStartThreads } from '../../shared/util/process/helper-threads.ts';
export {
  clientGroup,
  FairQueue,
  type FairQueueOptions,
  type Overloaded,
  overloaded,
} from '../../shared/util/time/fair-queue.ts';
export { type Flushable, flushLater } from '../../shared/util/time/flush-later.ts';
export { fractionOf } from './fraction-of.ts';
export { loadNow } from './load-now.ts';
export { type OffThreadCall, OffThreadError, type OffThreadOptions, offThread } from './off-thread.ts';
