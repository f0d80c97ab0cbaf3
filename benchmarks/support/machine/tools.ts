import { spawnSync } from 'node:child_process';

/** A line for the person who started the benchmark; nothing else went wrong. */
export class BenchError extends Error {}

export interface Tools {
  readonly nginx: string;
  readonly haproxy: string;
  readonly wrk: string;
}

export function findTools(): Tools {
  if (process.platform !== 'linux') throw new BenchError('the benchmark reads /proc, so it runs on Linux only');
  return { nginx: findTool('nginx', ['-v']), haproxy: findTool('haproxy', ['-v']), wrk: findTool('wrk', ['-v']) };
}

/** `args`: makes it print only its version. `debianPackage`: the package that contains it. */
export function findTool(name: string, args: readonly string[], debianPackage = name): string {
  for (const path of [name, `/usr/sbin/${name}`, `/usr/local/sbin/${name}`]) {
    if (spawnSync(path, args, { stdio: 'ignore' }).error === undefined) return path;
  }
  throw new BenchError(
    `the benchmark needs ${name}: apt-get install ${debianPackage} (or your system's own package of it)`,
  );
}
