import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { pidFileOf } from '../settings/prefix.ts';
import { CliError } from './cli-error.ts';

/** Says that this process is the node of the prefix. Throws when another one is. Returns what takes it back. */
export function claimPrefix(prefix: string): () => void {
  const path = pidFileOf(prefix);
  // A second round, as the file of a process that is gone is removed in the first.
  for (let round = 0; round < 2; round++) {
    try {
      writeFileSync(path, `${process.pid}\n`, { flag: 'wx', mode: 0o644 });
      return () => releasePrefix(path);
    } catch (error) {
      if (!isExists(error))
        throw new CliError(`cannot write ${path}: ${error instanceof Error ? error.message : error}`);
    }
    if (runningPid(prefix) !== null) break;
    rmSync(path, { force: true });
  }
  throw new CliError(`Sluicegate is already running in ${prefix}`);
}

/** Process id of the node that runs in the prefix, or null. */
export function runningPid(prefix: string): number | null {
  const pid = readPid(pidFileOf(prefix));
  return pid !== null && pid !== process.pid && isAlive(pid) && isGateway(pid) ? pid : null;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** After a crash the number may belong to another program, above all in a container, where numbers are few. */
function isGateway(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes('start');
  } catch {
    return true;
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

function releasePrefix(path: string): void {
  if (readPid(path) === process.pid) rmSync(path, { force: true });
}

function isExists(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}
