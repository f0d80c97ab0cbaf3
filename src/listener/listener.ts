import { readFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions, type Server as TlsServer } from 'node:tls';
import type { ListenAddress } from '../settings/settings.ts';
import type { ServerPolicy } from '../settings/tls-policy.ts';
import { PendingHandshakes } from '../tls/pending-handshakes.ts';
import { policyOptions, secureOptions } from '../tls/policy-options.ts';
import { adoptSocket, adoptTlsSocket, type SocketOwner } from './accept.ts';
import { expectClientHello } from './expect-client-hello.ts';
import { expectProxyHeader, type ProxyHeaderOptions } from './expect-proxy-header.ts';
import { type CertificateChooser, challengeProtocol, nameCallbacks } from './name-callbacks.ts';

export interface ListenerOptions {
  readonly address: ListenAddress;
  /** Shared with other workers: the kernel spreads connections over all who listen. */
  readonly reusePort: boolean;
  /** Connections that are open at once; one beyond them is closed, and `refused` told. */
  readonly maxConnections: number;
  readonly refused: () => void;
  /** PEM texts or files; needed by an address with `ssl`. */
  readonly cert: readonly string[];
  readonly key: readonly string[];
  /** What TLS clients may speak. */
  readonly policy: ServerPolicy;
  /** Keys of session tickets, shared with the other workers. */
  readonly ticketKeys: Uint8Array;
  /** The certificate for the name that a TLS client asks for; null: the listener's own. The handshake fails when it throws. */
  readonly contextFor: CertificateChooser;
  /** Whether some name has two certificates, of which the client's abilities decide; looked at for each new connection. */
  readonly choosesByKey: () => boolean;
  /** A handshake failed; the reason is for the log. `own`: no certificate could be given, which is not the client's doing. */
  readonly handshakeFailed: (peerIp: string, reason: string, own: boolean) => void;
  /** Whether somebody answers clients that speak `acme-tls/1`. */
  readonly takesChallenges: () => boolean;
  /** Whether TLS clients are asked for a certificate; looked at for each new connection. */
  readonly wantsClientCertificates: () => boolean;
  /** What the authority says of a certificate, for clients that ask (OCSP stapling; DER); null: nothing is known. */
  readonly ocspResponse: (certificate: Uint8Array) => Uint8Array | null;
  /** Whether something depends on the name that a TLS client asks for; looked at for each new connection. */
  readonly needsServerNames: () => boolean;
  /** For an address with `proxy_protocol`. */
  readonly proxyHeader: ProxyHeaderOptions;
  /** Makes the owner of a new connection; null when the socket has been taken over whole (HTTP/2). */
  readonly accept: (socket: Socket, address: ListenAddress) => SocketOwner | null;
}

export interface Listener {
  readonly port: number;
  readonly server: Server;
  /** Accepts no more connections. Those open are not touched. */
  stop(): void;
  /** Connections before or in their TLS handshake, not yet passed to `accept`. */
  readonly pending: number;
  /** Closes those. */
  closePending(): void;
  /** Gives sessions out under other keys from now on. */
  setTicketKeys(keys: Uint8Array): void;
}

/** Listens on one address. Rejects with one clear line when that is not possible. */
export function listen(options: ListenerOptions): Promise<Listener> {
  const { address } = options;
  const server = address.ssl ? tlsServer(options) : plainServer(options);
  server.maxConnections = options.maxConnections;
  server.on('drop', options.refused);
  const handshakes = address.ssl ? new PendingHandshakes(server) : null;
  const headers = address.proxyProtocol ? expectProxyHeader(server, options.proxyHeader) : null;
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const where = `${address.ip.includes(':') ? `[${address.ip}]` : address.ip}:${address.port}`;
      reject(new Error(`cannot listen on ${where}: ${reasons[error.code ?? ''] ?? error.message}`));
    });
    server.listen(
      {
        host: address.ip,
        port: address.port,
        backlog: address.backlog,
        ipv6Only: address.ipv6only,
        reusePort: options.reusePort,
      },
      () => {
        // A connection that could not be accepted (no memory for it, refused by a filter) is nobody's end but its own.
        server.on('error', () => {});
        const bound = server.address();
        const port = bound !== null && typeof bound === 'object' ? bound.port : address.port;
        resolve({
          port,
          server,
          stop: () => void server.close(),
          get pending() {
            return (handshakes?.count ?? 0) + (headers?.count ?? 0);
          },
          closePending() {
            handshakes?.close();
            headers?.close();
          },
          setTicketKeys: (keys) => giveTicketKeys(server, keys),
        });
      },
    );
  });
}

function giveTicketKeys(server: Server, keys: Uint8Array): void {
  if ('setTicketKeys' in server) (server as TlsServer).setTicketKeys(Buffer.from(keys));
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'address already in use',
  EACCES: 'permission denied',
  EADDRNOTAVAIL: 'no such address on this machine',
};

function plainServer(options: ListenerOptions): Server {
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, (socket) => {
    adoptSocket(server, socket, (adopted) => options.accept(adopted, options.address));
  });
  return server;
}

function tlsServer(options: ListenerOptions): Server {
  if (options.cert.length === 0 || options.key.length === 0) {
    throw new Error(`${options.address.listener}: a listener with ssl needs ssl_cert and ssl_cert_key`);
  }
  const { policy } = options;
  const own: TlsOptions = { ...policyOptions(policy), cert: options.cert.map(pem), key: options.key.map(pem) };
  const server = createTlsServer(
    {
      ...own,
      requestCert: false,
      // What a certificate is worth is for the plugin that needs it to say.
      rejectUnauthorized: false,
      ...nameCallbacks(options),
      allowHalfOpen: true,
      noDelay: true,
      handshakeTimeout,
    } as Parameters<typeof createTlsServer>[0],
    (socket: TLSSocket) => {
      // The client has seen the certificate that it came for, and closes.
      if (socket.alpnProtocol === challengeProtocol) socket.on('error', () => {}).destroySoon();
      else adoptTlsSocket(socket, (adopted) => options.accept(adopted, options.address));
    },
  );
  // A handshake that takes too long is told here, and nobody else closes it.
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    options.handshakeFailed(socket.remoteAddress ?? '', error.code ?? error.message, false);
    socket.destroy();
  });
  server.on('OCSPRequest', (certificate, _issuer, done) => {
    try {
      const response = options.ocspResponse(certificate);
      done(null, response === null ? (null as unknown as Buffer) : Buffer.from(response));
    } catch {
      // Without it the client is no worse off than with a server that knows nothing of it.
      done(null, null as unknown as Buffer);
    }
  });
  server.setTicketKeys(Buffer.from(options.ticketKeys));
  followWishes(server as TlsServer & { requestCert: boolean }, own, options);
  expectClientHello(server, options.choosesByKey, handshakeTimeout);
  return server;
}

/** Milliseconds. */
const handshakeTimeout = 30_000;

/**
 * Asks TLS clients for a certificate as long as somebody wants it. The server reads `requestCert` for each connection.
 * While it asks there are no session tickets: a resumed session has lost the intermediate certificates, and one from before
 * has no certificate at all. Nor are there any while routes depend on server names: Node does not tell the name of a session of
 * TLS 1.2 that goes on.
 */
function followWishes(
  server: TlsServer & { requestCert: boolean },
  own: TlsOptions,
  { wantsClientCertificates, needsServerNames }: ListenerOptions,
): void {
  let tickets = true;
  server.prependListener('connection', () => {
    const ask = wantsClientCertificates();
    const give = !ask && !needsServerNames();
    server.requestCert = ask;
    if (give === tickets) return;
    tickets = give;
    const keys = server.getTicketKeys();
    server.setSecureContext(give ? own : { ...own, secureOptions: secureOptions(false) });
    server.setTicketKeys(keys);
  });
}

/** PEM text as it is, a path as the file's content. */
function pem(value: string): string {
  return value.includes('-----BEGIN') ? value : readFileSync(value, 'utf8');
}
