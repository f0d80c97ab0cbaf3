import { createServer } from 'node:net';
import type { ListenAddress } from '../settings/settings.ts';

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'address already in use',
  EACCES: 'permission denied',
  EADDRNOTAVAIL: 'no such address on this machine',
};

/**
 * Makes sure that every address can be listened on, and puts a real port in the place of 0, so that all workers use the
 * same one. Workers share their ports, and so would a second node: this binds each alone for a moment, to find out.
 * Rejects with one clear line.
 */
export function claimPorts(addresses: readonly ListenAddress[]): Promise<readonly ListenAddress[]> {
  return Promise.all(addresses.map(claimPort));
}

/** `host:port` as a person writes it. */
export function addressText({ ip, port }: Pick<ListenAddress, 'ip' | 'port'>): string {
  return `${ip.includes(':') ? `[${ip}]` : ip}:${port}`;
}

function claimPort(address: ListenAddress): Promise<ListenAddress> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = reasons[error.code ?? ''] ?? error.message;
      reject(new Error(`cannot listen on ${addressText(address)}: ${reason}`));
    });
    server.listen({ host: address.ip, port: address.port, ipv6Only: address.ipv6only }, () => {
      const bound = server.address();
      const port = typeof bound === 'object' && bound !== null ? bound.port : address.port;
      server.close(() => resolve({ ...address, port }));
    });
  });
}
