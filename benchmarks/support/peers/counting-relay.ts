import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP relay that counts what passes. */
export interface CountingRelay {
  /** `127.0.0.1:<port>` */
  readonly address: string;
  /** Bytes in both directions. */
  bytes(): number;
  close(): void;
}

export async function startCountingRelay(target: string): Promise<CountingRelay> {
  const { hostname, port } = new URL(`tcp://${target}`);
  const sockets = new Set<Socket>();
  let bytes = 0;
  const server = createServer((downstream) => {
    const upstream = connect(Number(port), hostname);
    for (const [from, to] of [
      [downstream, upstream],
      [upstream, downstream],
    ] as const) {
      sockets.add(from.setNoDelay(true));
      from.on('data', (chunk) => {
        bytes += chunk.length;
      });
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    bytes: () => bytes,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
