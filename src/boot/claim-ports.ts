import { createSocket } from 'node:dgram';
import { createServer, isIPv6 } from 'node:net';
import type { ListenAddress } from '../settings/settings.ts';

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'address already in use',
  EACCES: 'permission denied',
  EADDRNOTAVAIL: 'no such address on this machine',
};

/** Addresses that can be listened on. */
export interface ClaimedPorts {
  /** Where the port was 0 there is a real one, the same for all workers, that they have to share (`reuseport`). */
  readonly addresses: readonly ListenAddress[];
  /** Lets the ports that were chosen go: to be called once everybody listens, else another program could be given them. */
  release(): void;
}

interface Claim {
  readonly address: ListenAddress;
  readonly held: { close(): void } | null;
}

/**
 * Makes sure that every address can be listened on, and chooses a port in the place of 0. Workers share their ports, and so
 * would a second node: this binds each exclusively for a moment, to find out. Rejects with a one-line error. `shared`: ports of listeners
 * with `reuseport` are shared with another node on purpose.
 */
export async function claimPorts(addresses: readonly ListenAddress[], shared = false): Promise<ClaimedPorts> {
  const claims = await Promise.allSettled(
    addresses.map((address) =>
      shared && address.reuseport && address.port !== 0 ? share(address) : claimPort(address),
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

/** `host:port` as a person writes it. */
export function addressText({ ip, port }: Pick<ListenAddress, 'ip' | 'port'>): string {
  return `${ip.includes(':') ? `[${ip}]` : ip}:${port}`;
}

/** Only where several sockets can share a port can one that the system chose be held until it is in use. */
const canHold = process.platform === 'linux' || process.platform === 'freebsd';

/**
 * Another node may serve the port, and would lose connections to a socket that only tests it. Whether the port can be shared is found
 * out when the workers listen.
 */
async function share(address: ListenAddress): Promise<Claim> {
  return { address, held: null };
}

function claimPort(address: ListenAddress): Promise<Claim> {
  if (address.udp) return claimUdpPort(address);
  // Whoever comes before the gateway listens is nobody's client.
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
