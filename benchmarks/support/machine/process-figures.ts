import { readFileSync } from 'node:fs';

/** Clock ticks in a second; 100 on every Linux that Node runs on. */
const ticksPerSecond = 100;

/** Microseconds of CPU that processes have used since they began, all their threads included. */
export function cpuMicroseconds(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of pids) {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name stands in parentheses and may hold blanks; the fields after it are counted from `state`, field 3.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return (ticks / ticksPerSecond) * 1e6;
}

export interface Memory {
  /** Bytes; pages shared with other processes are counted in full. */
  readonly resident: number;
  /** Bytes; pages shared with other processes are counted in part. */
  readonly proportional: number;
}

export function memoryOf(pids: readonly number[]): Memory {
  let resident = 0;
  let proportional = 0;
  for (const pid of pids) {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    resident += Number(/^Rss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * 1024;
    proportional += Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * 1024;
  }
  return { resident, proportional };
}

/** Most files that a process may have open. */
export function openFileLimit(pid: number): number {
  const limits = readFileSync(`/proc/${pid}/limits`, 'utf8');
  return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? 0);
}

/** A process and its children (nginx: the master and its workers). */
export function withChildren(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [pid, ...(children === '' ? [] : children.split(' ').map(Number))];
}

/** Megabytes that the processes have in memory, counted quickly; shared pages count in full. */
export function residentMegabytes(pids: readonly number[]): number {
  let kilobytes = 0;
  for (const pid of pids) {
    kilobytes += Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  }
  return kilobytes / 1024;
}
