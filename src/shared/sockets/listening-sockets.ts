import type { Server } from 'node:net';
import type { ListenAddress, Settings } from '../settings/settings.ts';

/** A socket that this process listens on. */
export interface ListeningSocket {
  /** Its address (`socketKey`). */
  readonly key: string;
  readonly descriptor: number;
  /** Other sockets of the same user may be bound to the same port (`SO_REUSEPORT`). */
  readonly reuseport: boolean;
}

/**
 * Descriptors to listen on, by `socketKey`. Each belongs to one listener, which closes it. An empty list: other workers listen on the
 * address.
 */
export type InheritedDescriptors = Readonly<Record<string, readonly number[]>>;

/** The address of a socket: `tcp 127.0.0.1:8000`, `udp [::1]:53`. */
export function socketKey({ ip, port, udp }: Pick<ListenAddress, 'ip' | 'port' | 'udp'>): string {
  return `${udp ? 'udp' : 'tcp'} ${ip.includes(':') ? `[${ip}]` : ip}:${port}`;
}

/** Whether the sockets of an address are bound with `SO_REUSEPORT`: each worker has its own. */
export function sharesPort(
  { workers }: Pick<Settings, 'workers'>,
  { reuseport }: Pick<ListenAddress, 'reuseport'>,
): boolean {
  return workers > 1 || reuseport;
}

/** The listeners to open for an address: one for each inherited descriptor, or a new socket (null). */
export function descriptorsFor(
  inherited: InheritedDescriptors,
  address: Pick<ListenAddress, 'ip' | 'port' | 'udp'>,
): readonly (number | null)[] {
  return inherited[socketKey(address)] ?? [null];
}

/** Null: the system or this version of Node does not expose it. */
export function descriptorOf(server: Server): number | null {
  return validDescriptor((server as unknown as { readonly _handle?: { readonly fd?: unknown } | null })._handle?.fd);
}

/** What the handle of a listener reports; null where it has no descriptor (Windows). */
export function validDescriptor(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 ? value : null;
}
