import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Server } from 'node:https';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { ownSocket } from '../../../shared/util/net/socket-owner.ts';
import { BridgeSocket } from './bridge-socket.ts';
import { ServerSession, type SessionHost } from './server-session.ts';

/** Milliseconds in which a client must take something of an answer, where the server has no timeout. */
const sendTimeout = 60_000;

/**
 * An HTTPS server that also speaks HTTP/2, chosen by ALPN. Each stream reaches Node's HTTP/1.1 server as a connection in memory: the routes see no
 * difference, and what Node bounds (heads, the time for a whole request, bodies that nobody reads) is bounded for both.
 */
export class Http2Server extends Server implements SessionHost {
  readonly #sessions = new Set<ServerSession>();
  sweeping = false;
  readonly #serveHttp1: (socket: TLSSocket | BridgeSocket) => void;

  constructor(options: TlsOptions, listener: RequestListener) {
    super({ ...options, ALPNProtocols: ['h2', 'http/1.1'] }, (request, response) => {
      if (request.socket instanceof BridgeSocket) asHttp2(request, response);
      listener(request, response);
    });
    const [http1] = this.listeners('secureConnection') as ((this: Server, socket: unknown) => void)[];
    if (http1 === undefined) throw new Error('this version of Node has another HTTPS server');
    this.#serveHttp1 = (socket) => http1.call(this, socket);
    this.removeAllListeners('secureConnection');
    this.on('secureConnection', (socket: TLSSocket) => {
      if (socket.alpnProtocol === 'h2') this.#begin(socket);
      else this.#serveHttp1(socket);
    });
  }

  #begin(socket: TLSSocket): void {
    // It would never report its end.
    if (socket.destroyed) return;
    const { headersTimeout: head, keepAliveTimeout: idle, timeout } = this;
    const send = timeout > 0 ? timeout : sendTimeout;
    const session = new ServerSession(socket, { head, idle, send }, this);
    this.#sessions.add(session);
    ownSocket(socket, session);
    if (!this.listening) session.drain();
  }

  serve(socket: BridgeSocket): void {
    this.#serveHttp1(socket);
  }

  closed(session: ServerSession): void {
    this.#sessions.delete(session);
  }

  override closeIdleConnections(): void {
    this.sweeping = true;
    super.closeIdleConnections();
    this.sweeping = false;
  }

  /** Requests in flight are answered first. */
  override close(done?: (error?: Error) => void): this {
    for (const session of this.#sessions) session.drain();
    return super.close(done);
  }
}

function asHttp2(request: IncomingMessage, response: ServerResponse): void {
  Object.assign(request, { httpVersion: '2.0', httpVersionMajor: 2, httpVersionMinor: 0 });
  // The body of an answer without a length ends with the connection, which becomes the end of the stream.
  response.removeHeader('transfer-encoding');
}
