let allowed = true;

/** Whether code of this thread may start threads for long work. Default: true. */
export function mayStartThreads(): boolean {
  return allowed;
}

/** From now on this thread does its long work itself: the gateway is in an application, whose process has the threads that it wants. */
export function startNoThreads(): void {
  allowed = false;
}
