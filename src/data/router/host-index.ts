import type { CandidateSet } from './candidate-set.ts';
import { NameIndex } from './name-index.ts';
import { RadixTrie } from './radix-trie.ts';
import type { HostPattern } from './route-conditions.ts';
import type { RoutableRoute } from './router.ts';
import { matchesName } from './sni.ts';

/** Candidates by path. Each index and each set may be changed by its edition only. */
export type PathIndex<R extends RoutableRoute> = RadixTrie<CandidateSet<R>>;

/** Path indexes by host pattern and port. */
export class HostIndex<R extends RoutableRoute> {
  private edition = 0;
  private readonly names = new NameIndex<PortIndex<R>>();
  private readonly found: PortIndex<R>[] = [];

  /** Gives an empty index the content of another, in steps. They share what neither changes; the other must not be changed. */
  copyFrom(other: HostIndex<R>, edition: number): Generator<void> {
    this.edition = edition;
    return this.names.copyFrom(other.names, edition);
  }

  get isEmpty(): boolean {
    return this.names.isEmpty;
  }

  /** The path index of the pattern, in a form that may be changed; added when it is new. */
  ensure({ name, port }: HostPattern): PathIndex<R> {
    const ports = this.ensurePorts(name);
    if (port === 0) {
      ports.any = this.owned(ports.any);
      return ports.any;
    }
    ports.byPort ??= new Map();
    const paths = this.owned(ports.byPort.get(port) ?? null);
    ports.byPort.set(port, paths);
    return paths;
  }

  private ensurePorts(name: string): PortIndex<R> {
    const known = this.names.get(name);
    if (known?.edition === this.edition) return known;
    const { any = null, byPort = null } = known ?? {};
    const ports = { edition: this.edition, any, byPort: byPort === null ? null : new Map(byPort) };
    if (known === null) this.names.add(name, ports);
    else this.names.replace(name, ports);
    return ports;
  }

  private owned(paths: PathIndex<R> | null): PathIndex<R> {
    if (paths === null) return new RadixTrie(this.edition);
    return paths.edition === this.edition ? paths : paths.fork(this.edition);
  }

  /** Removes the pattern's path index when it has become empty. The index has just been obtained by `ensure`. */
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
  readonly edition: number;
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
