import { closeSync } from 'node:fs';
import type { ListenAddress, Settings } from '../../shared/settings/settings.ts';
import { type InheritedDescriptors, socketKey } from '../../shared/sockets/listening-sockets.ts';

/** A listening socket that another process opened: the node that this one replaces, or systemd. */
export interface InheritedSocket {
  readonly ip: string;
  readonly port: number;
  readonly udp: boolean;
  readonly descriptor: number;
  /** More sockets can be bound to the same port. */
  readonly reuseport: boolean;
  /** The listener that it is for, by `FileDescriptorName` of systemd; anything else: found by its address. */
  readonly name: string;
  /** The system chose the port: an address with port 0 takes it. */
  readonly chosen: boolean;
}

export interface MatchedSockets {
  /** The addresses in their order; an inherited one has its real port. */
  readonly addresses: readonly ListenAddress[];
  /** The addresses that have no socket yet. */
  readonly missing: readonly ListenAddress[];
  readonly descriptors: InheritedDescriptors;
  /** Keys of sockets to which no others can be added. */
  readonly exclusive: ReadonlySet<string>;
  /** Sockets of other addresses. Close them. */
  readonly unused: readonly InheritedSocket[];
}

/** Finds the sockets of the addresses. Which listener used a socket before does not matter. */
export function matchSockets(wanted: readonly ListenAddress[], inherited: readonly InheritedSocket[]): MatchedSockets {
  const left = new Set(inherited);
  const descriptors: Record<string, readonly number[]> = {};
  const exclusive = new Set<string>();
  const missing: ListenAddress[] = [];
  const addresses = wanted.map((address) => {
    const first = [...left].find((socket) => fits(socket, address));
    if (first === undefined) {
      missing.push(address);
      return address;
    }
    const found = [...left].filter(({ ip, port, udp }) => ip === first.ip && port === first.port && udp === first.udp);
    for (const socket of found) left.delete(socket);
    if (!first.reuseport) exclusive.add(socketKey(first));
    descriptors[socketKey(first)] = found.map(({ descriptor }) => descriptor);
    return { ...address, port: first.port, reuseport: address.reuseport || first.reuseport };
  });
  return { addresses, missing, descriptors, exclusive, unused: [...left] };
}

/** Closes descriptors that no listener has opened. */
export function closeDescriptors(sockets: readonly Pick<InheritedSocket, 'descriptor'>[]): void {
  for (const { descriptor } of sockets) {
    try {
      closeSync(descriptor);
    } catch {
      // It is closed already.
    }
  }
}

/**
 * The descriptors of each worker. With more sockets than workers, some workers accept on several of them: the kernel
 * would reset the connections in the queue of a socket that is closed.
 */
export function distributeDescriptors(
  inherited: InheritedDescriptors,
  { workers, proxyListen, streamListen }: Pick<Settings, 'workers' | 'proxyListen' | 'streamListen'>,
): readonly InheritedDescriptors[] {
  const keys = [...proxyListen, ...streamListen].map(socketKey);
  return Array.from({ length: workers }, (_, worker) => {
    const own = keys.map((key) => [key, (inherited[key] ?? []).filter((_one, at) => at % workers === worker)] as const);
    // A worker without one opens a socket of its own.
    return Object.fromEntries(own.filter(([, descriptors]) => descriptors.length > 0));
  });
}

function fits({ ip, port, udp, chosen }: InheritedSocket, address: ListenAddress): boolean {
  return ip === address.ip && udp === address.udp && (port === address.port || (chosen && address.port === 0));
}
