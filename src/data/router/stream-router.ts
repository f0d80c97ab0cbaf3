import { copyMap } from '../../shared/util/copy-in-steps.ts';
import { ipSet } from '../../shared/util/net/ip-set.ts';
import { matchesSni } from './sni.ts';

export type StreamProtocol = 'tcp' | 'tls' | 'tls_passthrough' | 'udp';

/** One element of `sources` or `destinations`; at least one of the two is set. */
export interface StreamAddress {
  /** An address, or a range in CIDR notation. */
  readonly ip: string | null;
  readonly port: number | null;
}

/** The match attributes of a stream route, as configured. Null or empty: does not restrict. */
export interface RoutableStream {
  readonly id: string;
  readonly protocols: readonly StreamProtocol[];
  readonly sources: readonly StreamAddress[] | null;
  readonly destinations: readonly StreamAddress[] | null;
  /** `example.com`, `*.example.com`, `example.*`. */
  readonly snis: readonly string[] | null;
}

/** What is known of a stream when it is accepted. Addresses are in the form that sockets report. */
export interface StreamQuery {
  /** What the listener accepts: plain bytes, TLS, or datagrams. */
  readonly transport: 'tcp' | 'tls' | 'udp';
  readonly sourceIp: string;
  readonly sourcePort: number;
  readonly destinationIp: string;
  /** After `port_maps`. */
  readonly destinationPort: number;
  /** Server name in lower case without a trailing dot; '' when there is none. */
  readonly sni: string;
}

/**
 * Finds the route of a stream by Kong's rules: of those that match, the one that names a server name, or sources and
 * destinations both; then by sources (an address before a port before a range), then by destinations; then the greater
 * id.
 *
 * A plain stream matches a route with `tcp` only. A TLS stream matches one with `tls` or `tls_passthrough`, or with
 * `tcp`, just as a route with `http` accepts https too.
 */
export class StreamRouter<R extends RoutableStream> {
  readonly #routes = new Map<string, CompiledStream<R>>();
  /** Routes that have plain server names only, by name; and all others. Each list is in the order of priority. */
  readonly #byName = new Map<string, CompiledStream<R>[]>();
  readonly #others: CompiledStream<R>[] = [];

  /** Gives an empty router the routes of another, in steps. */
  *copyFrom(other: StreamRouter<R>): Generator<void> {
    yield* copyMap(other.#routes, this.#routes);
    yield* copyMap(other.#byName, this.#byName, (list) => list.slice());
    for (const compiled of other.#others) this.#others.push(compiled);
  }

  get size(): number {
    return this.#routes.size;
  }

  /**
   * Adds the route, or replaces the one of that id. Throws when an address in it is invalid; then nothing has changed.
   */
  upsert(route: R): void {
    const compiled = new CompiledStream(route);
    this.remove(route.id);
    this.#routes.set(route.id, compiled);
    for (const list of this.#listsOf(compiled)) list.splice(placeOf(compiled, list), 0, compiled);
  }

  remove(id: string): void {
    const compiled = this.#routes.get(id);
    if (compiled === undefined) return;
    this.#routes.delete(id);
    for (const list of this.#listsOf(compiled)) list.splice(list.indexOf(compiled), 1);
    for (const name of compiled.names) if (this.#byName.get(name)?.length === 0) this.#byName.delete(name);
  }

  match(query: StreamQuery): R | null {
    const named = first(this.#byName.get(query.sni) ?? none, query);
    const other = first(this.#others, query);
    if (named === null || other === null) return (named ?? other)?.route ?? null;
    return byPriority(named, other) < 0 ? named.route : other.route;
  }

  #listsOf({ names, ignoresName }: CompiledStream<R>): readonly CompiledStream<R>[][] {
    if (ignoresName || names.some((name) => name.includes('*'))) return [this.#others];
    return names.map((name) => {
      let list = this.#byName.get(name);
      if (list === undefined) {
        list = [];
        this.#byName.set(name, list);
      }
      return list;
    });
  }
}

const none: readonly never[] = Object.freeze([]);

function first<R extends RoutableStream>(list: readonly CompiledStream<R>[], query: StreamQuery) {
  for (const compiled of list) if (compiled.matches(query)) return compiled;
  return null;
}

/** The insert position of the route in an ordered list. */
function placeOf<R extends RoutableStream>(compiled: CompiledStream<R>, list: readonly CompiledStream<R>[]): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (byPriority(list[middle] as CompiledStream<R>, compiled) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function byPriority(a: CompiledStream<RoutableStream>, b: CompiledStream<RoutableStream>): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  return a.route.id > b.route.id ? -1 : 1;
}

class CompiledStream<R extends RoutableStream> {
  readonly route: R;
  readonly priority: number;
  readonly names: readonly string[];
  /** Also for streams without a server name: a plain one may match by its addresses. */
  readonly ignoresName: boolean;
  readonly #sources: readonly AddressTest[];
  readonly #destinations: readonly AddressTest[];
  readonly #protocols: ReadonlySet<StreamProtocol>;
  readonly #overTcp: boolean;

  constructor(route: R) {
    this.route = route;
    this.#protocols = new Set(route.protocols);
    this.#overTcp = route.protocols.some((protocol) => protocol !== 'udp');
    this.#sources = (route.sources ?? []).map(addressTest);
    this.#destinations = (route.destinations ?? []).map(addressTest);
    this.names = [...new Set((route.snis ?? []).map((name) => name.toLowerCase().replace(/\.$/, '')))];
    const byAddress = this.#sources.length > 0 || this.#destinations.length > 0;
    this.ignoresName = this.names.length === 0 || (byAddress && this.#protocols.has('tcp'));
    this.priority = priorityOf(route);
  }

  matches(query: StreamQuery): boolean {
    const { transport } = query;
    if (transport === 'tls') {
      if (!this.#overTcp) return false;
      if (this.names.length > 0 && !matchesSni(this.names, query.sni)) return false;
    } else {
      if (!this.#protocols.has(transport)) return false;
      // A route with server names only has no condition that a plain stream could match.
      if (this.names.length > 0 && !this.ignoresName) return false;
    }
    return (
      passes(this.#sources, query.sourceIp, query.sourcePort) &&
      passes(this.#destinations, query.destinationIp, query.destinationPort)
    );
  }
}

type AddressTest = (ip: string, port: number) => boolean;

function passes(tests: readonly AddressTest[], ip: string, port: number): boolean {
  if (tests.length === 0) return true;
  for (const test of tests) if (test(ip, port)) return true;
  return false;
}

function addressTest({ ip, port }: StreamAddress): AddressTest {
  const isPort = (actual: number): boolean => port === null || port === actual;
  if (ip === null) return (_, actual) => isPort(actual);
  const addresses = ipSet([ip]);
  return (actual, at) => isPort(at) && addresses.has(actual);
}

function priorityOf({ snis, sources, destinations }: RoutableStream): number {
  const named = (snis?.length ?? 0) > 0;
  const both = (sources?.length ?? 0) > 0 && (destinations?.length ?? 0) > 0;
  return (named || both ? 256 : 0) + 16 * addressBits(sources) + addressBits(destinations);
}

/** An address ranks above a port, and a port above a range. */
function addressBits(addresses: readonly StreamAddress[] | null): number {
  let bits = 0;
  for (const { ip, port } of addresses ?? []) {
    if (ip !== null) bits |= ip.includes('/') ? 1 : 8;
    if (port !== null) bits |= 4;
  }
  return bits;
}
