import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Random } from '../fuzz/random.ts';

/** A TCP proxy that passes bytes on in pieces of random sizes, each in a turn of its own. */
export interface SplittingProxy extends AsyncDisposable {
  readonly port: number;
}

/** `target`: where connections lead, asked for each. */
export async function startSplittingProxy(random: Random, target: () => number): Promise<SplittingProxy> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    const other = connect({ port: target(), host: '127.0.0.1', noDelay: true });
    for (const [from, to] of [
      [socket, other],
      [other, socket],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
      void pass(from, to, random);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

async function pass(from: Socket, to: Socket, random: Random): Promise<void> {
  try {
    for await (const piece of from as AsyncIterable<Buffer>) {
      for (let at = 0; at < piece.byteLength; ) {
        // Mostly large pieces, or a large body would take for ever.
        const size = random.once(4) ? 1 + random.int(40) : 1 + random.int(30_000);
        if (!to.write(piece.subarray(at, at + size))) await Promise.race([once(to, 'drain'), once(to, 'close')]);
        at += size;
        if (random.once(2)) await nextTurn();
      }
    }
    to.end();
  } catch {
    to.destroy();
  }
}
