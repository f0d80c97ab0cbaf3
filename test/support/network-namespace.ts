import { execFileSync } from 'node:child_process';

/** A network of its own for one process, with two links to this machine: one for clients, and one that can be cut. */
export interface NetworkNamespace extends Disposable {
  /** The command that runs a program in it. */
  readonly through: readonly string[];
  /** Its address for clients, and the one of this machine that it reaches on the same link. */
  readonly address: string;
  readonly machine: string;
  /** The address of this machine on the link that can be cut. */
  readonly machineBehindLink: string;
  /** Drops every packet of that link, in both directions: nothing is refused or reset. */
  cut(): void;
  heal(): void;
}

/** Null, or why no network namespace can be made here. */
export function withoutNetworkNamespaces(): string | null {
  const name = `sgprobe${process.pid}`;
  try {
    ip('netns', 'add', name);
    ip('netns', 'delete', name);
    return null;
  } catch (error) {
    return `network namespaces need root on Linux and iproute2: ${String(error).split('\n')[0]}`;
  }
}

let made = 0;

export function createNetworkNamespace(): NetworkNamespace {
  const serial = `${process.pid}${made++}`;
  const name = `sluicegate-${serial}`;
  const subnet = (link: number): string => `10.${200 + link}.${process.pid % 250}.${(made % 60) * 4}`;
  const parts = (link: number): { readonly outside: string; readonly inside: string } => {
    const [first, second, third, last] = subnet(link).split('.');
    return {
      outside: `${first}.${second}.${third}.${Number(last) + 1}`,
      inside: `${first}.${second}.${third}.${Number(last) + 2}`,
    };
  };
  const links = [
    { outer: `sgc${serial}`, inner: 'clients', ...parts(0) },
    { outer: `sgd${serial}`, inner: 'cut', ...parts(1) },
  ] as const;
  ip('netns', 'add', name);
  const remove = (): void => {
    try {
      ip('netns', 'delete', name);
    } catch {
      // It is removed already.
    }
  };
  process.once('exit', remove);
  try {
    ip('-n', name, 'link', 'set', 'lo', 'up');
    for (const { outer, inner, outside, inside } of links) {
      ip('link', 'add', outer, 'type', 'veth', 'peer', 'name', inner, 'netns', name);
      ip('address', 'add', `${outside}/30`, 'dev', outer);
      ip('link', 'set', outer, 'up');
      ip('-n', name, 'address', 'add', `${inside}/30`, 'dev', inner);
      ip('-n', name, 'link', 'set', inner, 'up');
    }
  } catch (error) {
    remove();
    throw error;
  }
  const [clients, cut] = links;
  return {
    through: ['ip', 'netns', 'exec', name],
    address: clients.inside,
    machine: clients.outside,
    machineBehindLink: cut.outside,
    cut: () => ip('link', 'set', cut.outer, 'down'),
    heal: () => ip('link', 'set', cut.outer, 'up'),
    [Symbol.dispose]() {
      process.off('exit', remove);
      remove();
    },
  };
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
