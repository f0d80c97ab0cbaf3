import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type Inspection, readFirstBytes } from '../../shared/proxy-protocol/first-bytes.ts';
import { type ClientHello, inspectClientHello, maxClientHelloLength } from './client-hello.ts';

interface Internals {
  readonly _handle?: { readonly _parent?: object } | null;
}

/** Keyed by the handle of the plain socket, which the TLS socket above it knows. */
const hellos = new WeakMap<object, ClientHello>();

/**
 * Reads the ClientHello ahead of the TLS server while `needed` returns true, for the parts that Node does not expose.
 * The TLS server sees the connection after that. A message that cannot be parsed passes to the server, which answers
 * it. Call this when the server already has the `connection` listeners that have to wait.
 */
export function expectClientHello(server: Server, needed: () => boolean, timeout: number): void {
  const next = server.listeners('connection') as ((socket: Socket) => void)[];
  const proceed = (socket: Socket): void => {
    for (const listener of next) listener.call(server, socket);
  };
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (!needed()) {
      proceed(socket);
      return;
    }
    readFirstBytes(socket, {
      inspect: lenient,
      limit: maxClientHelloLength + 4_096,
      timeout,
      done: (hello) => {
        const { _handle: handle } = socket as unknown as Internals;
        if (hello !== null && handle !== null && handle !== undefined) hellos.set(handle, hello);
        proceed(socket);
      },
      failed: () => socket.destroy(),
    });
  });
}

function lenient(bytes: Buffer): Inspection<ClientHello | null> {
  const found = inspectClientHello(bytes);
  return found.kind === 'bad' ? { kind: 'done', consumed: 0, value: null } : found;
}

/** The ClientHello that was read ahead; null: none was read. */
export function clientHelloOf(socket: TLSSocket): ClientHello | null {
  const parent = (socket as unknown as Internals)._handle?._parent;
  return parent === undefined ? null : (hellos.get(parent) ?? null);
}
