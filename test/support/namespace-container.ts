import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { linkSync, mkdirSync, mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killIfThere, processesBelow } from '../../scripts/lib/processes.ts';
import { collectOutput, type ProcessOutput } from '../../src/cli/testing/process-output.ts';
import './file-end.ts';
import { until } from './until.ts';

/**
 * A copy-on-write copy of this machine in namespaces of its own (mounts, processes, network), as a container engine
 * makes them. What a process in it writes or listens on is invisible to the machine.
 */
export interface NamespaceContainer extends ProcessOutput, AsyncDisposable {
  /** Process 1, as this machine numbers it. */
  readonly pid: number;
  readonly child: ChildProcess;
  /** The exit code of process 1; 128 and the signal's number if a signal ended it. */
  readonly exit: Promise<number | null>;
  /** Runs a program in the container, as `docker exec` does. Never rejects because of its exit code. */
  exec(argv: readonly string[], options?: ExecOptions): Promise<ExecResult>;
}

export interface ExecOptions {
  /** Default: the container's user. */
  readonly user?: number;
  /** Milliseconds. Default 60,000. */
  readonly timeout?: number;
}

export interface ExecResult {
  readonly code: number | null;
  /** Standard output and standard error. */
  readonly output: string;
}

export interface ContainerOptions {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Folders that lie over the machine's own root; the first is on top. */
  readonly layers?: readonly string[];
  /** Folder that receives all changes. Default: memory. */
  readonly changes?: string;
  /** Id of user and group; without capabilities if it is not 0. Default 0. */
  readonly user?: number;
  /** Nothing can be written outside `volumes`. Default false. */
  readonly readOnly?: boolean;
  /** Folders of the machine by the path that they have in the container. */
  readonly volumes?: Readonly<Record<string, string>>;
  /** Folder in which the command starts. Default `/`. */
  readonly workdir?: string;
  /** Whether it has the machine's network instead of loopback alone. Default false. */
  readonly network?: boolean;
}

/** For the `skip` option of tests, as `skipWithoutRedis`. */
export function skipWithoutNamespaces(): string | false {
  try {
    execFileSync('unshare', ['--mount', '--pid', '--net', '--fork', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], {
      stdio: 'ignore',
    });
    return false;
  } catch {
    const reason = 'needs root on Linux, with the right to create namespaces (unshare)';
    if (process.env['CI'] === 'true') throw new Error(reason);
    return reason;
  }
}

/** A layer in which `node` is the Node that runs the tests: the machine's own may be too old. */
export async function nodeLayer(folder: string): Promise<string> {
  const bin = join(folder, 'usr/local/bin');
  mkdirSync(bin, { recursive: true });
  try {
    linkSync(process.execPath, join(bin, 'node'));
  } catch {
    await cp(process.execPath, join(bin, 'node'));
  }
  return folder;
}

const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Arguments: the work folder, the folder of changes or '', the layers, `ro` or `rw`, the working directory, the program. */
const prepare = `
set -e
work=$1 changes=$2 layers=$3 mode=$4 workdir=$5 volumes=$6
shift 6
mount --make-rprivate /
mount -t tmpfs tmpfs "$work"
mkdir "$work/root" "$work/machine" "$work/empty"
# The kernel refuses layers that are folders of another layer, but not those of another overlay.
mount -t overlay overlay -o "lowerdir=$work/empty:/" "$work/machine"
if [ -z "$changes" ]; then changes=$work; fi
mkdir -p "$changes/upper" "$changes/work"
mount -t overlay overlay -o "lowerdir=$layers$work/machine,upperdir=$changes/upper,workdir=$changes/work" "$work/root"
root=$work/root
mkdir -p "$root$workdir"
printf '%s' "$volumes" | while IFS='	' read -r from to; do
  mkdir -p "$root$to"
  mount --bind "$from" "$root$to"
done
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
if [ "$mode" = ro ]; then
  mount -t tmpfs -o ro tmpfs "$root/tmp"
  mount -o remount,ro "$root"
else
  mount -t tmpfs tmpfs "$root/tmp"
fi
ip link set lo up 2>/dev/null || true
cd "$root"
exec chroot "$root" sh -c 'cd "$1" && shift && exec "$@"' sh "$workdir" "$@"
`;

export async function startContainer(options: ContainerOptions): Promise<NamespaceContainer> {
  const {
    command,
    env = {},
    layers = [],
    changes = '',
    user = 0,
    readOnly = false,
    volumes = {},
    workdir = '/',
  } = options;
  const work = mkdtempSync(join(tmpdir(), 'sluicegate-container-'));
  const mounts = Object.entries(volumes).map(([to, from]) => `${from}\t${to}\n`);
  const child = spawn(
    'unshare',
    [
      ...['--mount', '--pid', '--fork', '--kill-child', ...(options.network === true ? [] : ['--net'])],
      ...[
        'sh',
        '-c',
        prepare,
        'sh',
        work,
        changes,
        layers.map((layer) => `${layer}:`).join(''),
        readOnly ? 'ro' : 'rw',
      ],
      ...[workdir, mounts.join(''), ...asUser(user), ...withEnv(env), ...command],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const { output, printed } = collectOutput(child);
  let ended = false;
  const exit = once(child, 'close').then(() => {
    ended = true;
    return child.exitCode;
  });
  const first = (): number | undefined => processesBelow(child.pid ?? 0)[0]?.pid;
  await until(() => ended || hasOwnRoot(first()), 10_000);
  const pid = first() ?? 0;
  return {
    pid,
    child,
    exit,
    output,
    printed,
    exec: (argv, { user: as = user, timeout = 60_000 } = {}) =>
      execute(
        ['--target', `${pid}`, '--mount', '--pid', '--net', '--root', `--wd=/proc/${pid}/root`],
        [...asUser(as), ...withEnv(env), 'sh', '-c', 'cd "$1" && shift && exec "$@"', 'sh', workdir, ...argv],
        timeout,
      ),
    async [Symbol.asyncDispose]() {
      // The end of its parent does not reach a process that changed its user.
      if (!ended) killIfThere(pid === 0 ? (child.pid ?? 0) : pid);
      await exit;
      rmSync(work, { recursive: true, force: true });
    },
  };
}

/** Whether the preparations are done: their last step gives the process its root. */
function hasOwnRoot(pid: number | undefined): boolean {
  try {
    return pid !== undefined && readlinkSync(`/proc/${pid}/root`) !== '/';
  } catch {
    return false;
  }
}

/** Without capabilities, and without a way to get any. */
function asUser(user: number): readonly string[] {
  if (user === 0) return [];
  const ids = [`--reuid=${user}`, `--regid=${user}`, '--clear-groups'];
  return ['setpriv', ...ids, '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all'];
}

function withEnv(env: Readonly<Record<string, string>>): readonly string[] {
  return [
    'env',
    '-i',
    ...Object.entries({ PATH: path, HOME: '/root', ...env }).map(([name, value]) => `${name}=${value}`),
  ];
}

async function execute(target: readonly string[], argv: readonly string[], timeout: number): Promise<ExecResult> {
  const child = spawn('nsenter', [...target, '--', ...argv], { stdio: ['ignore', 'pipe', 'pipe'], timeout });
  const { output } = collectOutput(child);
  await once(child, 'close');
  return { code: child.exitCode, output: output() };
}
