import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Ports below the ephemeral range, so that no other process gets one by chance. */
const first = 10_000;
const last = 32_000;

/** A port of 127.0.0.1 that no process listens on, for programs that cannot choose a port, or as a closed port. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + Math.floor(Math.random() * (last - first));
    const server = createServer();
    try {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    } catch {
      continue;
    }
    const { port: bound } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    return bound;
  }
}
