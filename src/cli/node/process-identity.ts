import { existsSync, readFileSync } from 'node:fs';

const hasProc = existsSync('/proc/self/stat');

/**
 * Distinguishes a process from a later one with the same pid, by its start time. Null when no process has the pid; a
 * thread, which `kill(pid, 0)` also finds, and a zombie do not count. Empty on systems without /proc.
 */
export function processIdentity(pid: number): string | null {
  if (!hasProc) return isSignalable(pid) ? '' : null;
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    if (Number(/^Tgid:\s*(\d+)/m.exec(status)?.[1]) !== pid) return null;
    return startTime(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return null;
  }
}

/** Fields of proc_pid_stat(5); the second is the name in parentheses, which may contain anything. */
function startTime(stat: string): string | null {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state = ''] = fields;
  return state === 'Z' || state === 'X' ? null : (fields[19] ?? null);
}

function isSignalable(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
