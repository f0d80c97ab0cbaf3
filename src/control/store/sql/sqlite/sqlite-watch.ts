import type { FeedPosition } from '../../store.ts';
import type { SeenCommit } from '../sql-backend.ts';
import type { SqliteConnections } from './sqlite-connections.ts';

/** Milliseconds between two checks of the file and its position. */
const pollInterval = 500;

export interface WatchOptions {
  readonly file: SqliteConnections['file'];
  readonly onCommit: (seen: SeenCommit) => void;
  readonly readPosition: () => Promise<FeedPosition>;
}

/** Detects commits of other processes, such as a command or a restore, by reading the position at intervals. */
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
      // Callers of the store receive the error; the next round tries again.
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
