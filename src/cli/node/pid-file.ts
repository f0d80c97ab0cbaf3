import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { pidFileOf, prefixLockOf } from '../../shared/settings/kinds/prefix.ts';
import { fileError } from '../../shared/util/files/file-error.ts';
import { CliError } from '../cli-error.ts';
import { isPrefixLocked, takePrefixLock } from './prefix-lock.ts';
import { processIdentity } from './process-identity.ts';

/** A gateway that runs in a prefix. `identity` distinguishes it from a later process with the same pid. */
export interface NodeProcessId {
  readonly pid: number;
  readonly identity: string;
}

/**
 * Makes this process the node of the prefix and writes its pid file. Throws when another node runs there; a stale pid
 * file is replaced. The result releases the prefix.
 */
export function claimPrefix(prefix: string): { release(removePidFile: boolean): void } {
  const lock = lockPrefix(prefix);
  if (lock === null) throw new CliError(`Sluicegate is already running in ${prefix}`);
  const path = pidFileOf(prefix);
  try {
    const draft = `${path}.${process.pid}`;
    writeFileSync(draft, `${process.pid}\n`, { mode: 0o644 });
    renameSync(draft, path);
  } catch (error) {
    lock.release();
    throw new CliError(fileError('cannot write the pid file', path, error).message);
  }
  return {
    release(removePidFile) {
      if (removePidFile) rmSync(path, { force: true });
      lock.release();
    },
  };
}

/**
 * The node that runs in the prefix, or null. A pid alone proves nothing: after a crash or in a new container it may belong to
 * another program or to a thread. A running node holds the lock of its prefix.
 */
export function runningNode(prefix: string): NodeProcessId | null {
  const end = performance.now() + handoverTime;
  for (;;) {
    const node = lockHolder(prefix);
    // While a new process takes over, there is a pid file but no lock for a moment.
    if (node !== null || performance.now() >= end || !isHandedOver(prefix)) return node;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause);
  }
}

/** Milliseconds that a hand-over of the prefix may take, and between two looks. */
const handoverTime = 2000;
const pause = 10;

/** Whether the process of the pid file has the lock file open, without the lock. */
function isHandedOver(prefix: string): boolean {
  const pid = readPid(pidFileOf(prefix));
  return pid !== null && pid !== process.pid && hasOpen(pid, prefixLockOf(prefix));
}

function lockHolder(prefix: string): NodeProcessId | null {
  if (!isLocked(prefix)) return null;
  const pid = readPid(pidFileOf(prefix));
  if (pid === null || pid === process.pid) return null;
  const identity = processIdentity(pid);
  return identity !== null && hasOpen(pid, prefixLockOf(prefix)) ? { pid, identity } : null;
}

export function isRunning({ pid, identity }: NodeProcessId): boolean {
  return processIdentity(pid) === identity;
}

function lockPrefix(prefix: string): { release(): void } | null {
  const path = prefixLockOf(prefix);
  try {
    return takePrefixLock(path);
  } catch (error) {
    throw new CliError(fileError('cannot lock', path, error).message);
  }
}

function isLocked(prefix: string): boolean {
  const path = prefixLockOf(prefix);
  try {
    return isPrefixLocked(path);
  } catch (error) {
    throw new CliError(`cannot read ${path}: ${reasonOf(error)}`);
  }
}

/** Whether the process has the file open: a process in another container may hold the lock, under another pid. */
function hasOpen(pid: number, path: string): boolean {
  try {
    const { dev, ino } = statSync(path);
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      const found = statSync(`/proc/${pid}/fd/${fd}`, { throwIfNoEntry: false });
      return found !== undefined && found.dev === dev && found.ino === ino;
    });
  } catch (error) {
    // Without /proc, all that is known is that the lock is held and the pid is in use.
    return error instanceof Error && 'code' in error && error.code === 'ENOENT' && processIdentity(pid) === '';
  }
}

function readPid(path: string): number | null {
  try {
    const pid = Number(readFileSync(path, 'utf8').trim());
    return Number.isSafeInteger(pid) && pid > 0 ? pid : null;
  } catch {
    return null;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
