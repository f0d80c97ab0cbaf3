import type { Socket } from 'node:net';
import { createServer, type SecureContext, type Server, type TLSSocket } from 'node:tls';
import { handshakeContext } from '../dataplane/handshake-context.ts';
import { policyOptions } from '../tls/policy-options.ts';
import { takesEcdsa } from '../tls/takes-ecdsa.ts';
import type { StreamParts } from './stream-parts.ts';

interface Waiting {
  readonly secured: (socket: TLSSocket) => void;
  readonly failed: () => void;
}

/** Ends the TLS of streams with the certificates of plugins and of the Admin API, by server name, or that of the listeners. */
export class TlsTerminator {
  readonly #server: Server;
  readonly #waiting = new Map<Socket, Waiting>();

  constructor({ settings, snapshot, ticketKeys }: Pick<StreamParts, 'settings' | 'snapshot' | 'ticketKeys'>) {
    // It never listens: sockets are handed to it when their first bytes have been looked at.
    this.#server = createServer({
      cert: [...settings.sslCert],
      key: [...settings.sslCertKey],
      ...policyOptions(settings.tlsPolicy),
      SNICallback(this: TLSSocket, name: string, done: (error: Error | null, context?: SecureContext) => void) {
        const give = (context: SecureContext | null): void => (context === null ? done(null) : done(null, context));
        const fail = (error: unknown): void => done(error instanceof Error ? error : new Error(String(error)));
        try {
          const ecdsa = (): boolean => takesEcdsa(this, null, settings.tlsPolicy.ciphers);
          const context = handshakeContext(snapshot.current, name, false, ecdsa, this.remoteAddress ?? '');
          if (context instanceof Promise) context.then(give, fail);
          else give(context);
        } catch (error) {
          fail(error);
        }
      },
      allowHalfOpen: true,
      noDelay: true,
      handshakeTimeout: settings.streamPrereadTimeout,
    } as Parameters<typeof createServer>[0]);
    this.setTicketKeys(ticketKeys);
    // A handshake that takes too long is told, and no more.
    this.#server.on('tlsClientError', (_, socket: TLSSocket) => socket.destroy());
    this.#server.on('secureConnection', (socket: TLSSocket) => {
      const raw = (socket as unknown as { readonly _parent: Socket })._parent;
      const waiting = this.#waiting.get(raw);
      this.#waiting.delete(raw);
      if (waiting === undefined) socket.destroy();
      else waiting.secured(socket);
    });
  }

  /** Gives sessions out under other keys from now on. */
  setTicketKeys(keys: Uint8Array): void {
    this.#server.setTicketKeys(Buffer.from(keys));
  }

  /** Takes the socket over; exactly one of the callbacks is called, unless the socket is closed by the caller. */
  terminate(socket: Socket, secured: (socket: TLSSocket) => void, failed: () => void): void {
    this.#waiting.set(socket, { secured, failed });
    // A handshake that fails, or takes too long, ends here.
    socket.once('close', () => {
      const waiting = this.#waiting.get(socket);
      if (waiting === undefined) return;
      this.#waiting.delete(socket);
      waiting.failed();
    });
    this.#server.emit('connection', socket);
  }
}
