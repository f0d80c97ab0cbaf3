import type { FeedPosition } from '../../store.ts';
import type { SeenCommit } from '../sql-backend.ts';
import type { ReplacedFile } from './replaced-file.ts';

/** How often the file and the position in it are looked at. In milliseconds. */
const pollInterval = 500;

export interface WatchOptions {
  readonly file: ReplacedFile;
  readonly onCommit: (seen: SeenCommit) => void;
  readonly readPosition: () => Promise<FeedPosition>;
}

/** Learns of commits of other processes, such as a command or a restore, by reading the position at intervals. */
export function watchSqlite({ file, onCommit, readPosition }: WatchOptions): () => Promise<void> {
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let polling: Promise<void> = Promise.resolve();

  async function poll(): Promise<void> {
    try {
      if (file.reopen()) {
        const position = await readPosition();
        if (!closed) onCommit(position);
      }
    } catch {
      // Whoever uses the store gets the error; the next round asks again.
    }
    if (!closed) schedule();
  }

  function schedule(): void {
    timer = setTimeout(() => {
      polling = poll();
    }, pollInterval).unref();
  }

  schedule();
  return async () => {
    closed = true;
    clearTimeout(timer);
    await polling;
  };
}
