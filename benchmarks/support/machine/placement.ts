import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Which cores run what, as lists in the form of taskset: `0,2-3`. */
export interface Placement {
  /** The core of the process under measurement: a peer, or a gateway with all its threads, the control plane included. */
  readonly subject: string;
  /** Load generators, backend and this process. */
  readonly load: string;
  /** Gateways with several workers, which need more than one core. */
  readonly all: string;
}

/** The numbers in a list such as `0,2-3`. */
export function readCores(list: string): readonly number[] {
  return list.split(',').flatMap((part) => {
    const [first = Number.NaN, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, at) => first + at);
  });
}

/**
 * The last core for the subject, the others for the load, without the one that shares a physical core with the subject: two
 * threads of one core slow each other down. Null: there are not enough cores.
 *
 * @param allowed Cores that this process may use.
 * @param siblings Threads of the physical core that a core belongs to.
 */
export function choosePlacement(
  allowed: readonly number[],
  siblings: (core: number) => readonly number[],
): Placement | null {
  const subject = allowed.at(-1);
  if (subject === undefined || allowed.length < 2) return null;
  const others = allowed.filter((core) => core !== subject);
  const apart = others.filter((core) => !siblings(subject).includes(core));
  return {
    subject: String(subject),
    load: (apart.length > 0 ? apart : others).join(','),
    all: allowed.join(','),
  };
}

let placement: Placement | null = null;

/** Moves this process to the cores of the load; what it starts from now on stays there unless it is a subject. Null: not pinned. */
export function pinToCores(): Placement | null {
  const allowed = /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
  const chosen = choosePlacement(readCores(allowed), siblingsOf);
  if (chosen === null) return null;
  const moved = spawnSync('taskset', ['-a', '-c', '-p', chosen.load, String(process.pid)], { stdio: 'ignore' });
  if (moved.status === 0) placement = chosen;
  return placement;
}

/** The command that starts a program on these cores; its process id is that of the program. */
export function placed(
  where: 'subject' | 'all',
  command: string,
  args: readonly string[],
): readonly [command: string, args: string[]] {
  if (placement === null) return [command, [...args]];
  return ['taskset', ['-c', placement[where], command, ...args]];
}

function siblingsOf(core: number): readonly number[] {
  try {
    return readCores(readFileSync(`/sys/devices/system/cpu/cpu${core}/topology/thread_siblings_list`, 'utf8').trim());
  } catch {
    // A system that does not say.
    return [core];
  }
}
