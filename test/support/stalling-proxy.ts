import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy in front of a server that can stop forwarding bytes while connections stay open and new ones are accepted. */
export interface StallingProxy extends AsyncDisposable {
  readonly port: number;
  /** Connections accepted so far. */
  readonly connections: number;
  /** Stops forwarding in both directions without closing connections. */
  stall(): void;
  /** The same for the connections whose client has sent the text of the option `mark`; connections that are opened later are not affected. */
  stallMarked(): void;
  /** Resumes with the bytes that have not been read yet. */
  resume(): void;
}

/** `stallAt`: stalls when a client sends bytes with this text, which are not forwarded. `mark`: text for `stallMarked`. */
export async function startStallingProxy(
  target: { readonly host: string; readonly port: number },
  { stallAt = null, mark = null }: { readonly stallAt?: string | null; readonly mark?: string | null } = {},
): Promise<StallingProxy> {
  const sockets = new Set<Socket>();
  const marked = new Set<Socket>();
  let stalled = false;
  let connections = 0;
  const stall = (): void => {
    stalled = true;
    for (const socket of sockets) socket.pause();
  };
  const follow = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.on('data', (data) => stalled || to.write(data));
    from.on('end', () => stalled || to.end());
    from.on('error', () => undefined);
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
    if (stalled) from.pause();
  };
  const server = createServer({ allowHalfOpen: true }, (client) => {
    connections += 1;
    const upstream = connect({ ...target, allowHalfOpen: true });
    client.on('data', (data: Buffer) => {
      if (stallAt !== null && data.includes(stallAt)) stall();
      if (mark === null || !data.includes(mark)) return;
      for (const socket of [client, upstream]) marked.add(socket);
    });
    follow(client, upstream);
    follow(upstream, client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  };
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    stall,
    stallMarked() {
      for (const socket of marked) socket.pause();
    },
    resume() {
      stalled = false;
      for (const socket of sockets) socket.resume();
    },
    [Symbol.asyncDispose]: close,
  };
}
