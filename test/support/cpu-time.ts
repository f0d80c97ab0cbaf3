/**
 * Milliseconds of CPU that this thread has used. A bound on the time of a computation is a bound on this: the clock also counts the time
 * of others that run on the machine.
 */
export function cpuTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
