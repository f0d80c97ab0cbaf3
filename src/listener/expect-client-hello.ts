import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type ClientHello, inspectClientHello, longestClientHello } from './client-hello.ts';
import { type Inspection, readFirstBytes } from './first-bytes.ts';

interface Internals {
  readonly _handle?: { readonly _parent?: object } | null;
}

/** By the handle of the plain socket, which the TLS socket above it knows. */
const hellos = new WeakMap<object, ClientHello>();

/**
 * Reads the ClientHello of connections ahead while `needed` says so, for what Node does not tell of it: then, and only then,
 * does the TLS server see the connection. A message that cannot be read goes on to the server, whose business it is. To be
 * called when the server has the listeners for `connection` that have to wait.
 */
export function expectClientHello(server: Server, needed: () => boolean, timeout: number): void {
  const next = server.listeners('connection') as ((socket: Socket) => void)[];
  const goOn = (socket: Socket): void => {
    for (const listener of next) listener.call(server, socket);
  };
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (!needed()) {
      goOn(socket);
      return;
    }
    readFirstBytes(socket, {
      inspect: lenient,
      limit: longestClientHello + 4_096,
      timeout,
      done: (hello) => {
        const { _handle: handle } = socket as unknown as Internals;
        if (hello !== null && handle !== null && handle !== undefined) hellos.set(handle, hello);
        goOn(socket);
      },
      failed: () => socket.destroy(),
    });
  });
}

function lenient(bytes: Buffer): Inspection<ClientHello | null> {
  const found = inspectClientHello(bytes);
  return found.kind === 'bad' ? { kind: 'done', consumed: 0, value: null } : found;
}

/** The ClientHello that was read ahead; null: none was. */
export function clientHelloOf(socket: TLSSocket): ClientHello | null {
  const parent = (socket as unknown as Internals)._handle?._parent;
  return parent === undefined ? null : (hellos.get(parent) ?? null);
}
