import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import type { Placement } from './placement.ts';
import type { Tools } from './tools.ts';

/** What a figure is worth nothing without. */
export interface Machine {
  readonly date: string;
  readonly commit: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly kernel: string;
  readonly system: string;
  readonly node: string;
  readonly nginx: string;
  readonly haproxy: string;
  readonly wrk: string;
  /** Null: nothing is pinned to cores. */
  readonly placement: Placement | null;
}

export function describeMachine(tools: Tools, placement: Placement | null): Machine {
  const root = new URL('../../..', import.meta.url).pathname;
  const commit = output('git', ['-C', root, 'rev-parse', '--short=12', 'HEAD']);
  const changed = output('git', ['-C', root, 'status', '--porcelain', '--untracked-files=no', 'src']);
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: changed === '' ? commit : `${commit} with changes`,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    system: /^PRETTY_NAME="(.*)"$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'Linux',
    node: process.version,
    nginx: /nginx\/([\d.]+)/.exec(output(tools.nginx, ['-v']))?.[1] ?? 'unknown',
    haproxy: /version ([\d.]+)/.exec(output(tools.haproxy, ['-v']))?.[1] ?? 'unknown',
    wrk: /wrk (\S+)/.exec(output(tools.wrk, ['-v']))?.[1] ?? 'unknown',
    placement,
  };
}

/** Both streams: some programs tell their version on the second. */
function output(command: string, args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  return `${stdout ?? ''}${stderr ?? ''}`.trim();
}
