import { setTimeout as pause } from 'node:timers/promises';
import { fileVersion } from './file-version.ts';

export interface WatchOptions {
  readonly path: string;
  /** Called when the file has changed and has stayed as it is for `settle`; the next change is not looked for before it resolves. */
  readonly changed: () => Promise<void>;
  /** Milliseconds between two looks at the file. Default 500. */
  readonly interval?: number;
  /** Milliseconds without a change after which a write counts as complete. Default 200. */
  readonly settle?: number;
}

/**
 * Follows the content of a file, until the returned function is called. Looking at it works where notifications of the system do
 * not: on network file systems, and when a directory on its path is replaced, as in a ConfigMap of Kubernetes. A missing file is
 * no change.
 */
export function watchFile({ path, changed, interval = 500, settle = 200 }: WatchOptions): () => void {
  const stopped = new AbortController();
  const wait = (time: number): Promise<void> => pause(time, undefined, { ref: false, signal: stopped.signal });

  async function follow(): Promise<void> {
    let known = await fileVersion(path);
    for (;;) {
      await wait(interval);
      const seen = await fileVersion(path);
      if (seen === null || seen === known) continue;
      const settled = await settledVersion(seen);
      if (settled === null || settled === known) continue;
      known = settled;
      await changed();
    }
  }

  async function settledVersion(seen: string): Promise<string | null> {
    let found: string | null = seen;
    for (;;) {
      await wait(settle);
      const later = await fileVersion(path);
      if (later === found) return found;
      found = later;
    }
  }

  follow().catch((error: unknown) => {
    if (!stopped.signal.aborted) throw error;
  });
  return () => stopped.abort();
}
