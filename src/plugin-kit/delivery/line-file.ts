import type { PluginTools } from '../../plugin-sdk/tools.ts';
import { type LogSink, openLogSink } from '../../shared/logs/log-sink.ts';
import { onReopen } from '../../shared/logs/reopening.ts';
import { throttledLog } from '../../shared/util/time/throttled-log.ts';

export interface LineFileOptions {
  /**
   * Relative to the gateway's working directory; `/dev/stdout` and `/dev/stderr` are
   * those of the gateway. Folders are not created.
   */
  readonly path: string;
  /** True: a file that was moved or deleted is created again at once. False: only when the logs are reopened. */
  readonly followsMoves: boolean;
  /** Counts `lines_lost`. */
  readonly tools: Pick<PluginTools, 'log' | 'count'>;
}

/** Appends lines to a file. Never waits for the disk, and never throws. */
export interface LineFile {
  /** Appends a line. It must not contain a line feed. Lines that cannot be written are lost and counted. */
  write(line: string): void;
  /** Resolves once all lines so far are written or lost. */
  flush(): Promise<void>;
  /** Call it once. Writes the remaining lines, within a second. */
  close(): void;
}

interface SharedFile {
  readonly sink: LogSink;
  readonly unsubscribe: () => void;
  users: number;
}

/** Of this thread. */
const shared = new Map<string, SharedFile>();
const reportPause = 10_000;

/**
 * Opens a file for appending; all users of a path share it. Each write appends whole lines, so several threads and processes can
 * share a file. Lines are buffered for 150 ms or 256 KiB; up to 4 MiB while they cannot be written.
 */
export function openLineFile(options: LineFileOptions): LineFile {
  const key = `${options.followsMoves ? 'follows' : 'stays'} ${options.path}`;
  const file = shared.get(key) ?? open(options);
  shared.set(key, file);
  file.users++;
  const { sink } = file;
  return {
    write: (line) => sink.write(line),
    flush: () => sink.flush(),
    close() {
      if (--file.users > 0) return;
      shared.delete(key);
      file.unsubscribe();
      void sink.close();
    },
  };
}

function open({ path, followsMoves, tools }: LineFileOptions): SharedFile {
  const outage = outageOf(path, tools);
  const sink = openLogSink(path, { makeFolder: false, mode: 0o644, followsMoves, ...outage });
  return { sink, unsubscribe: onReopen(() => sink.reopen()), users: 0 };
}

/** Counts lost lines, and logs when losses begin and end. */
function outageOf(path: string, { log, count }: LineFileOptions['tools']) {
  let lines = 0;
  const reportLoss = throttledLog(reportPause, (reason) => log.error('log lines are lost', { path, reason }));
  const reportEnd = throttledLog(reportPause, (text) =>
    log.warn('log lines are written again', { path, lost: Number(text) }),
  );
  return {
    lost(more: number, reason: string): void {
      count('lines_lost', more);
      if (lines === 0) reportLoss(reason);
      lines += more;
    },
    written(): void {
      if (lines === 0) return;
      reportEnd(String(lines));
      lines = 0;
    },
  };
}
