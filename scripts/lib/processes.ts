import { readdirSync, readFileSync } from 'node:fs';

export interface RunningProcess {
  readonly pid: number;
  readonly parent: number;
  /** Its last argument, which is the file of a test. */
  readonly command: string;
}

interface FoundProcess extends RunningProcess {
  /** When it started, in clock ticks of the system. */
  readonly started: number;
}

/** The children of a process, and theirs; those that started first come first. Empty where the system has no `/proc`. */
export function processesBelow(pid: number): readonly RunningProcess[] {
  const all = allProcesses();
  const found: FoundProcess[] = [];
  const parents = [pid];
  // Numbers of processes are used again, so they tell neither age nor generation.
  for (const parent of parents) {
    const children = all.filter((one) => one.parent === parent);
    found.push(...children);
    parents.push(...children.map((child) => child.pid));
  }
  return found.sort((a, b) => a.started - b.started || a.pid - b.pid).map(({ started: _, ...process }) => process);
}

export function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

function allProcesses(): readonly FoundProcess[] {
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
      return [{ pid: Number(name), parent: Number(after[1]), started: Number(after[19]), command: argv.at(-1) ?? '' }];
    } catch {
      return [];
    }
  });
}
