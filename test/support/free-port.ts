import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Ports below those that the system gives to anybody who asks for any: nobody comes to have one by chance. */
const first = 10_000;
const last = 32_000;

/** A port of 127.0.0.1 that nobody listens on, for programs that cannot choose one themselves, or that nobody is to answer on. */
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
