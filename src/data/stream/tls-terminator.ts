import type { Socket } from 'node:net';
import { createServer, type SecureContext, type Server, type TLSSocket } from 'node:tls';
import type { Settings } from '../../shared/settings/settings.ts';
import { acceptsEcdsa } from '../../shared/tls/accepts-ecdsa.ts';
import { policyOptions } from '../../shared/tls/policy-options.ts';
import { handshakeContext } from '../request/handshake-context.ts';
import type { StreamParts } from './stream-parts.ts';

interface Waiting {
  readonly secured: (socket: TLSSocket) => void;
  readonly failed: () => void;
}

/**
 * Terminates the TLS of streams, with certificates of plugins and the Admin API by server name, or those of the
 * listeners.
 */
export class TlsTerminator {
  readonly #server: Server;
  readonly #waiting = new Map<Socket, Waiting>();
  readonly #settings: Settings;

  constructor({ settings, snapshot, ticketKeys }: Pick<StreamParts, 'settings' | 'snapshot' | 'ticketKeys'>) {
    this.#settings = settings;
    // It never listens: sockets are handed to it after their first bytes were inspected.
    this.#server = createServer({
      cert: [...settings.sslCert],
      key: [...settings.sslCertKey],
      ...policyOptions(settings.tlsPolicy),
      SNICallback(this: TLSSocket, name: string, done: (error: Error | null, context?: SecureContext) => void) {
        const succeed = (context: SecureContext | null): void => (context === null ? done(null) : done(null, context));
        const fail = (error: unknown): void => done(error instanceof Error ? error : new Error(String(error)));
        try {
          const ecdsa = (): boolean => acceptsEcdsa(this, null, settings.tlsPolicy.ciphers);
          const context = handshakeContext(snapshot.current, name, false, ecdsa, this.remoteAddress ?? '');
          if (context instanceof Promise) context.then(succeed, fail);
          else succeed(context);
        } catch (error) {
          fail(error);
        }
      },
      allowHalfOpen: true,
      noDelay: true,
      handshakeTimeout: settings.streamPrereadTimeout,
    } as Parameters<typeof createServer>[0]);
    this.setTicketKeys(ticketKeys);
    // A handshake that times out is only reported.
    this.#server.on('tlsClientError', (_, socket: TLSSocket) => socket.destroy());
    this.#server.on('secureConnection', (socket: TLSSocket) => {
      const raw = (socket as unknown as { readonly _parent: Socket })._parent;
      const waiting = this.#waiting.get(raw);
      this.#waiting.delete(raw);
      if (waiting === undefined) socket.destroy();
      else waiting.secured(socket);
    });
  }

  /** Issues sessions with other ticket keys from now on. */
  setTicketKeys(keys: Uint8Array): void {
    this.#server.setTicketKeys(Buffer.from(keys));
  }

  /** Shows other certificates from now on; PEM texts. */
  setCertificates(cert: readonly string[], key: readonly string[]): void {
    const keys = this.#server.getTicketKeys();
    this.#server.setSecureContext({ ...policyOptions(this.#settings.tlsPolicy), cert: [...cert], key: [...key] });
    this.#server.setTicketKeys(keys);
  }

  /** Takes over the socket. Calls exactly one of the callbacks, unless the caller closes the socket. */
  terminate(socket: Socket, secured: (socket: TLSSocket) => void, failed: () => void): void {
    this.#waiting.set(socket, { secured, failed });
    // A handshake that fails or times out ends here.
    socket.once('close', () => {
      const waiting = this.#waiting.get(socket);
      if (waiting === undefined) return;
      this.#waiting.delete(socket);
      waiting.failed();
    });
    this.#server.emit('connection', socket);
  }
}
