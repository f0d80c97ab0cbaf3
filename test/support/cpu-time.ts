import { threadCpuTime } from '../../src/shared/util/time/thread-cpu-time.ts';

/**
 * Milliseconds of CPU that this thread has used. A bound on the time of a computation is a bound on this: the clock also counts the time
 * of others that run on the machine.
 */
export const cpuTime: () => number = threadCpuTime;
