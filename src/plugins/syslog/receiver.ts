import type { SyslogEntry } from './message.ts';

/** Takes batches; a rejection means that they are to be tried again. */
export interface Receiver {
  send(batch: readonly SyslogEntry[], signal: AbortSignal): Promise<void>;
  close(): void;
}
