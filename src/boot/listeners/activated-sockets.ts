import { readFileSync, readlinkSync } from 'node:fs';
import { isIPv6, SocketAddress } from 'node:net';
import type { ListenAddress, Settings } from '../../shared/settings/settings.ts';
import { socketKey } from '../../shared/sockets/listening-sockets.ts';
import type { InheritedSocket } from './inherited-sockets.ts';

/** A socket that systemd has opened for this process. */
export type ActivatedSocket = InheritedSocket;

/** systemd passes descriptors from here on. */
const firstDescriptor = 3;
/** More are not passed by any unit. */
const maxDescriptors = 1024;

const variables = ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES'];

/**
 * The sockets of socket activation (sd_listen_fds): only those that are meant for this process, by `LISTEN_PID`. Removes the
 * variables, so that no other process takes them for its own. Throws one line when a descriptor is no listening socket.
 */
export function activatedSockets(env: NodeJS.ProcessEnv): readonly ActivatedSocket[] {
  const { LISTEN_PID: pid, LISTEN_FDS: count, LISTEN_FDNAMES: names = '' } = env;
  for (const name of variables) delete env[name];
  if (pid !== String(process.pid) || count === undefined) return [];
  if (!/^[1-9]\d*$/.test(count) || Number(count) > maxDescriptors) {
    throw new Error(`LISTEN_FDS is not a number of descriptors: '${count}'`);
  }
  const named = names.split(':');
  return Array.from({ length: Number(count) }, (_, at) => {
    const descriptor = firstDescriptor + at;
    const found = addressOf(descriptor);
    if (found === null) {
      throw new Error(
        `descriptor ${descriptor} (${named[at] ?? 'unknown'}) is neither a listening TCP socket nor a UDP socket`,
      );
    }
    return { ...found, descriptor, reuseport: false, chosen: false, name: named[at] ?? '' };
  });
}

/** Names of sockets that stand for the addresses of a listener, whatever they are. */
export const listenersByName = {
  proxy: 'proxyListen',
  stream: 'streamListen',
  admin: 'adminListen',
  status: 'statusListen',
  dashboard: 'adminGuiListen',
  portal: 'portalListen',
  cluster: 'clusterListen',
} as const;

type Listeners = Pick<Settings, (typeof listenersByName)[keyof typeof listenersByName]>;

/**
 * Finds the listener of each socket that has none by its address: by its name, in the order of the addresses that have no socket.
 * Those get the address of their socket.
 */
export function assignNamed(settings: Listeners, sockets: readonly InheritedSocket[]): Listeners {
  const result: Record<keyof Listeners, readonly ListenAddress[]> = {
    proxyListen: settings.proxyListen,
    streamListen: settings.streamListen,
    adminListen: settings.adminListen,
    statusListen: settings.statusListen,
    adminGuiListen: settings.adminGuiListen,
    portalListen: settings.portalListen,
    clusterListen: settings.clusterListen,
  };
  const keys = new Set(Object.values(result).flatMap((addresses) => addresses.map(socketKey)));
  const given = new Set(sockets.map(socketKey));
  for (const socket of sockets) {
    const key = socketKey(socket);
    // Several sockets of one address are one listener.
    if (keys.has(key) || !Object.hasOwn(listenersByName, socket.name)) continue;
    const kind = listenersByName[socket.name as keyof typeof listenersByName];
    const free = result[kind].findIndex((one) => one.udp === socket.udp && !given.has(socketKey(one)));
    if (free < 0) continue;
    const { ip, port } = socket;
    result[kind] = result[kind].map((one, at) => (at === free ? { ...one, ip, port } : one));
    keys.add(key);
  }
  return result;
}

/** Where a descriptor listens, from the tables of the kernel; null: it does not. */
function addressOf(descriptor: number): Pick<InheritedSocket, 'ip' | 'port' | 'udp'> | null {
  const inode = inodeOf(descriptor);
  if (inode === null) return null;
  for (const [table, udp] of [
    ['tcp', false],
    ['tcp6', false],
    ['udp', true],
    ['udp6', true],
  ] as const) {
    for (const line of readTable(table)) {
      const fields = line.trim().split(/\s+/);
      const [, local = '', , state] = fields;
      if (fields[9] !== inode || state !== (udp ? unconnected : listening)) continue;
      const [address = '', port = ''] = local.split(':');
      return { ip: ipOf(address), port: Number.parseInt(port, 16), udp };
    }
  }
  return null;
}

/** States of proc_net_tcp(5). */
const listening = '0A';
const unconnected = '07';

function inodeOf(descriptor: number): string | null {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${descriptor}`))?.[1] ?? null;
  } catch {
    return null;
  }
}

function readTable(name: string): readonly string[] {
  try {
    return readFileSync(`/proc/self/net/${name}`, 'latin1').split('\n').slice(1);
  } catch {
    return [];
  }
}

/** Words of 32 bits in the byte order of the machine. */
function ipOf(hex: string): string {
  const bytes = Buffer.from(hex, 'hex');
  bytes.swap32();
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16));
  const address = groups.join(':');
  return isIPv6(address) ? new SocketAddress({ address, family: 'ipv6' }).address : address;
}
