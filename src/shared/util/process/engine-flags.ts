import { setFlagsFromString } from 'node:v8';
import { isMainThread } from 'node:worker_threads';

const flags = ['--expose-gc', '--enable-experimental-regexp-engine'];
let done = false;

/**
 * Sets the V8 flags that the gateway needs, once. They belong to the process: V8 reads them in every thread without a lock,
 * and the compile cache is only valid for the flags that it was written with. So they are set on the main thread before
 * the first worker starts, and never reset. In other threads this does nothing.
 */
export function setEngineFlags(): void {
  if (done || !isMainThread) return;
  done = true;
  for (const flag of flags) setFlagsFromString(flag);
}
