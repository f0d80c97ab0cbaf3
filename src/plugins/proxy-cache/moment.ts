/** Now, in milliseconds since the epoch and parts of them: to tell what came first, also between workers. */
export function moment(): number {
  return performance.timeOrigin + performance.now();
}
