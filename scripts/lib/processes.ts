import { readdirSync, readFileSync } from 'node:fs';

export interface RunningProcess {
  readonly pid: number;
  /** Its last argument, which is the file of a test. */
  readonly command: string;
}

/** The children of a process, and theirs. Empty where the system has no `/proc`. */
export function processesBelow(pid: number): readonly RunningProcess[] {
  const found: RunningProcess[] = [];
  const parents = new Set([pid]);
  for (const one of allProcesses().sort((a, b) => a.pid - b.pid)) {
    if (!parents.has(one.parent)) continue;
    parents.add(one.pid);
    found.push({ pid: one.pid, command: one.command });
  }
  return found;
}

export function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

function allProcesses(): { readonly pid: number; readonly parent: number; readonly command: string }[] {
  let names: readonly string[];
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    try {
      // The name of the program, in parentheses, may hold anything.
      const after = readFileSync(`/proc/${name}/stat`, 'latin1').replace(/^.*\)/s, '').trim().split(' ');
      const argv = readFileSync(`/proc/${name}/cmdline`, 'utf8')
        .split('\0')
        .filter((word) => word !== '');
      return [{ pid: Number(name), parent: Number(after[1]), command: argv.at(-1) ?? '' }];
    } catch {
      return [];
    }
  });
}
