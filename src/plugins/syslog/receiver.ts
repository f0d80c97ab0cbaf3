import type { SyslogEntry } from './message.ts';

/** Accepts batches; the caller retries after a rejection. */
export interface Receiver {
  send(batch: readonly SyslogEntry[], signal: AbortSignal): Promise<void>;
  close(): void;
}
