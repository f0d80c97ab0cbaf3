/** Resolves to whether the work has settled within the time. Never rejects: callers handle the outcome of the work itself. */
export function awaitWithTimeout(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  return new Promise((resolve) => {
    const finish = (settled: boolean): void => {
      clearTimeout(timer);
      resolve(settled);
    };
    const timer = setTimeout(() => finish(false), milliseconds);
    work.then(
      () => finish(true),
      () => finish(true),
    );
  });
}
