import type { Plugin } from '../../plugin-sdk/define-plugin.ts';
import type { LogReceiver } from '../../shared/logs/log-receiver.ts';

/** The application that a node runs in: everything is in the application's thread, and nothing of its process is changed. */
export interface Application {
  /** In addition to those of the settings. */
  readonly plugins: readonly Plugin[];
  /** Receives the lines of the error log; null: the targets in the settings do. */
  readonly log: LogReceiver | null;
  /** The store is in memory, and no file is written. */
  readonly inMemory: boolean;
}
