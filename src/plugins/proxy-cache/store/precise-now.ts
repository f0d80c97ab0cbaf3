/** Milliseconds since the epoch with a fraction: orders events, also of several workers. */
export function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}
