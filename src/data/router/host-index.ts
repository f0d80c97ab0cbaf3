import type { CandidateSet } from './candidate-set.ts';
import { NameIndex } from './name-index.ts';
import { RadixTrie } from './radix-trie.ts';
import type { HostPattern } from './route-conditions.ts';
import type { RoutableRoute } from './router.ts';
import { matchesName } from './sni.ts';

/** Candidates by path. */
export type PathIndex<R extends RoutableRoute> = RadixTrie<CandidateSet<R>>;

/** Path indexes by host pattern and port. */
export class HostIndex<R extends RoutableRoute> {
  private readonly names = new NameIndex<PortIndex<R>>();
  private readonly found: PortIndex<R>[] = [];

  get isEmpty(): boolean {
    return this.names.isEmpty;
  }

  /** The path index of the pattern, added when it is new. */
  ensure({ name, port }: HostPattern): PathIndex<R> {
    let ports = this.names.get(name);
    if (ports === null) {
      ports = { any: null, byPort: null };
      this.names.add(name, ports);
    }
    if (port === 0) {
      ports.any ??= new RadixTrie();
      return ports.any;
    }
    ports.byPort ??= new Map();
    const paths = ports.byPort.get(port) ?? new RadixTrie<CandidateSet<R>>();
    ports.byPort.set(port, paths);
    return paths;
  }

  /** Removes the pattern's path index when it has become empty. */
  prune({ name, port }: HostPattern): void {
    const ports = this.names.get(name);
    if (ports === null) return;
    if (port === 0 && ports.any?.isEmpty) ports.any = null;
    if (port !== 0 && ports.byPort?.get(port)?.isEmpty) ports.byPort.delete(port);
    if (ports.any === null && (ports.byPort === null || ports.byPort.size === 0)) this.names.delete(name);
  }

  /**
   * Writes the path indexes for a Host header to `out` and returns their number. `listenerPort` is used when the header
   * has no port.
   */
  collect(host: string, listenerPort: number, out: PathIndex<R>[]): number {
    const colon = portColon(host);
    const name = colon < 0 ? host : host.slice(0, colon);
    const port = portOf(host, colon, listenerPort);
    const names = this.names.collect(name, this.found);
    let count = 0;
    for (let i = 0; i < names; i++) {
      const { any, byPort } = this.found[i]!;
      const paths = byPort === null ? undefined : byPort.get(port);
      if (paths !== undefined) out[count++] = paths;
      if (any !== null) out[count++] = any;
    }
    return count;
  }
}

interface PortIndex<R extends RoutableRoute> {
  any: PathIndex<R> | null;
  byPort: Map<number, PathIndex<R>> | null;
}

/** The port of a Host header with a colon; that of the listener when it is empty. */
function portOf(host: string, colon: number, listenerPort: number): number {
  return colon < 0 || colon === host.length - 1 ? listenerPort : Number(host.slice(colon + 1));
}

/** Whether a Host header matches one of the patterns, by the rules of the index. */
export function matchesHost(patterns: readonly HostPattern[], host: string, listenerPort: number): boolean {
  if (host === '') return false;
  const colon = portColon(host);
  const name = colon < 0 ? host : host.slice(0, colon);
  const port = portOf(host, colon, listenerPort);
  return patterns.some((pattern) => (pattern.port === 0 || pattern.port === port) && matchesName(pattern.name, name));
}

/** The position of the colon before a numeric or empty port at the end, or -1. */
function portColon(host: string): number {
  for (let i = host.length - 1; i >= 0; i--) {
    const code = host.charCodeAt(i);
    if (code === 0x3a) return i;
    if (code < 0x30 || code > 0x39) return -1;
  }
  return -1;
}
