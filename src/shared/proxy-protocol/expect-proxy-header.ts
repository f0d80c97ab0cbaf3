import type { Server, Socket } from 'node:net';
import { readFirstBytes } from './first-bytes.ts';
import { inspectProxyHeader, maxProxyHeaderLength, type ProxyHeader } from './proxy-protocol.ts';

export interface ProxyHeaderOptions {
  /** Milliseconds that the header may take. */
  readonly timeout: number;
  /** A connection was closed because it had no valid header. */
  readonly refused: (peerIp: string, reason: string) => void;
}

/** Connections that the server has not seen yet. */
export interface WaitingConnections {
  readonly count: number;
  close(): void;
}

interface Internals {
  readonly _handle?: { readonly _parent?: object } | null;
}

/**
 * Keyed by the handle, which stays the same when a socket is wrapped in TLS or its handle is moved to another socket.
 */
const headers = new WeakMap<object, ProxyHeader>();

/**
 * From now on every connection of the server must begin with a PROXY header, before TLS. The header is read and stored
 * before the server sees the connection. Call this after all listeners for `connection` are attached. Returns the
 * connections whose header has not arrived yet.
 */
export function expectProxyHeader(server: Server, options: ProxyHeaderOptions): WaitingConnections {
  const next = server.listeners('connection') as ((socket: Socket) => void)[];
  const waiting = new Set<Socket>();
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    waiting.add(socket);
    readFirstBytes(socket, {
      inspect: inspectProxyHeader,
      limit: maxProxyHeaderLength,
      timeout: options.timeout,
      done: (header) => {
        waiting.delete(socket);
        const { _handle: handle } = socket as unknown as Internals;
        if (handle === null || handle === undefined) return;
        headers.set(handle, header);
        for (const listener of next) listener.call(server, socket);
      },
      failed: (reason) => {
        waiting.delete(socket);
        const { remoteAddress } = socket;
        socket.destroy();
        options.refused(remoteAddress ?? '', reason);
      },
    });
  });
  return {
    get count() {
      return waiting.size;
    },
    close() {
      for (const socket of waiting) socket.destroy();
    },
  };
}

/** The address in the PROXY header of the connection; null when it had none, or when there was no header. */
export function proxyHeaderOf(socket: Socket): ProxyHeader {
  const { _handle: handle } = socket as unknown as Internals;
  if (handle === null || handle === undefined) return null;
  return headers.get(handle._parent ?? handle) ?? null;
}
