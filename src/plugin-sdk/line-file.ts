import { type LogSink, openLogSink } from '../observability/log-sink.ts';
import { onReopen } from '../observability/reopening.ts';
import { nowAndThen } from '../util/now-and-then.ts';
import type { PluginTools } from './define-plugin.ts';

export interface LineFileOptions {
  /** A path, relative to the gateway's working directory; `/dev/stdout` and `/dev/stderr` are the gateway's own. Folders are not made. */
  readonly path: string;
  /** A file that was moved or removed is made anew within moments. Otherwise only when the operator has the logs reopened. */
  readonly followsMoves: boolean;
  /** Counts `lines_lost`. */
  readonly tools: Pick<PluginTools, 'log' | 'count'>;
}

/** A file that lines are added to. Nothing here waits for the disk, or throws. */
export interface LineFile {
  /** Adds a line, given without a line feed and with none in it. A place that takes no lines loses them. */
  write(line: string): void;
  /** Resolves when all that was given by now is written or lost. */
  flush(): Promise<void>;
  /** To be called once. Writes what was given, within a second. */
  close(): void;
}

interface SharedFile {
  readonly sink: LogSink;
  readonly forget: () => void;
  users: number;
}

/** Of this thread. */
const shared = new Map<string, SharedFile>();
const tellPause = 10_000;

/**
 * Opens a file to add lines to; those who name the same path share it. Each write adds whole lines, so several threads and processes can
 * write to one file. Lines are gathered for 150 ms or 64 KiB, up to 4 MiB while the place does not take them.
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
      file.forget();
      void sink.close();
    },
  };
}

function open({ path, followsMoves, tools }: LineFileOptions): SharedFile {
  const outage = outageOf(path, tools);
  const sink = openLogSink(path, { makeFolder: false, mode: 0o644, followsMoves, ...outage });
  return { sink, forget: onReopen(() => sink.reopen()), users: 0 };
}

/** Counts what is lost, and tells when that begins and ends. */
function outageOf(path: string, { log, count }: LineFileOptions['tools']) {
  let lines = 0;
  const tellLoss = nowAndThen(tellPause, (reason) => log.error('log lines are lost', { path, reason }));
  const tellEnd = nowAndThen(tellPause, (text) =>
    log.warn('log lines are written again', { path, lost: Number(text) }),
  );
  return {
    lost(more: number, reason: string): void {
      count('lines_lost', more);
      if (lines === 0) tellLoss(reason);
      lines += more;
    },
    written(): void {
      if (lines === 0) return;
      tellEnd(String(lines));
      lines = 0;
    },
  };
}
