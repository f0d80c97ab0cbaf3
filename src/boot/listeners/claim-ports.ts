import { createSocket } from 'node:dgram';
import { createServer, isIPv6 } from 'node:net';
import type { ListenAddress } from '../../shared/settings/settings.ts';

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'address already in use',
  EACCES: 'permission denied',
  EADDRNOTAVAIL: 'no such address on this machine',
};

/** Addresses that are free to listen on. */
export interface ClaimedPorts {
  /** A port 0 is replaced by a real one, which all workers have to share (`reuseport`). */
  readonly addresses: readonly ListenAddress[];
  /** Releases the chosen ports. Call it when all listeners listen: before that, the system could give the ports to another program. */
  release(): void;
}

interface Claim {
  readonly address: ListenAddress;
  readonly held: { close(): void } | null;
}

/**
 * Checks that every address is free to listen on, and chooses a port instead of 0. Workers share their ports, and a second node would
 * share them too without an error, so this binds each port exclusively for a moment. Rejects with a one-line error. `shared`: ports of
 * listeners with `reuseport` are shared with another node on purpose.
 */
export async function claimPorts(addresses: readonly ListenAddress[], shared = false): Promise<ClaimedPorts> {
  const claims = await Promise.allSettled(
    addresses.map((address) =>
      address.optional === true || (shared && address.reuseport && address.port !== 0)
        ? unclaimed(address)
        : claimPort(address),
    ),
  );
  const made = claims.flatMap((claim) => (claim.status === 'fulfilled' ? [claim.value] : []));
  const release = (): void => {
    for (const { held } of made) held?.close();
  };
  const failed = claims.find((claim) => claim.status === 'rejected');
  if (failed !== undefined) {
    release();
    throw failed.reason;
  }
  return { addresses: made.map((claim) => claim.address), release };
}

/** `host:port`, with brackets around an IPv6 address. */
export function addressText({ ip, port }: Pick<ListenAddress, 'ip' | 'port'>): string {
  return `${ip.includes(':') ? `[${ip}]` : ip}:${port}`;
}

/** A port that the system chose can be held until it is in use only where several sockets can share it. */
const canHold = process.platform === 'linux' || process.platform === 'freebsd';

/**
 * Another node may serve the port, and would lose connections to a socket that only tests it. Whether the port can be used is known
 * when the node listens.
 */
async function unclaimed(address: ListenAddress): Promise<Claim> {
  return { address, held: null };
}

function claimPort(address: ListenAddress): Promise<Claim> {
  if (address.udp) return claimUdpPort(address);
  // A client that connects before the gateway listens cannot be served.
  const server = createServer((socket) => socket.destroy());
  const hold = address.port === 0 && canHold;
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(address, error)));
    server.listen({ host: address.ip, port: address.port, ipv6Only: address.ipv6only, reusePort: hold }, () => {
      const bound = server.address();
      const port = typeof bound === 'object' && bound !== null ? bound.port : address.port;
      if (hold) resolve({ address: { ...address, port, reuseport: true }, held: server });
      else server.close(() => resolve({ address: { ...address, port }, held: null }));
    });
  });
}

function claimUdpPort(address: ListenAddress): Promise<Claim> {
  const hold = address.port === 0 && canHold;
  const v6 = isIPv6(address.ip);
  const socket = createSocket({ type: v6 ? 'udp6' : 'udp4', reusePort: hold, ipv6Only: v6 && address.ipv6only });
  return new Promise((resolve, reject) => {
    socket.once('error', (error) => {
      socket.close();
      reject(cannotListen(address, error));
    });
    socket.bind({ address: address.ip, port: address.port, exclusive: true }, () => {
      const { port } = socket.address();
      if (hold) resolve({ address: { ...address, port, reuseport: true }, held: socket });
      else socket.close(() => resolve({ address: { ...address, port }, held: null }));
    });
  });
}

function cannotListen(address: ListenAddress, error: NodeJS.ErrnoException): Error {
  return new Error(`cannot listen on ${addressText(address)}: ${reasons[error.code ?? ''] ?? error.message}`);
}
