import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions, type Server as TlsServer } from 'node:tls';
import { expectProxyHeader } from '../../shared/proxy-protocol/expect-proxy-header.ts';
import { PendingHandshakes } from '../../shared/tls/pending-handshakes.ts';
import { policyOptions, secureOptions } from '../../shared/tls/policy-options.ts';
import { adoptSocket, adoptTlsSocket } from './accept.ts';
import { expectClientHello } from './expect-client-hello.ts';
import { challengeProtocol, handshakeCallbacks } from './handshake-callbacks.ts';
import type { ListenerOptions } from './listener-options.ts';

export interface Listener {
  readonly port: number;
  readonly server: Server;
  /** Accepts no more connections. Open ones are not affected. */
  stop(): void;
  /** Connections before or in their TLS handshake, not yet passed to `accept`. */
  readonly pending: number;
  /** Closes the pending connections. */
  closePending(): void;
  /** Issues sessions with other ticket keys from now on. */
  setTicketKeys(keys: Uint8Array): void;
  /** Shows other certificates from now on; PEM texts. Ignored by a listener without TLS. */
  setCertificates(cert: readonly string[], key: readonly string[]): void;
}

/** Listens on one address. Rejects with one clear line when that fails. */
export function listen(options: ListenerOptions): Promise<Listener> {
  const { address } = options;
  const own = ownCertificates(options);
  const server = address.ssl ? tlsServer(options, own) : plainServer(options);
  server.maxConnections = options.maxConnections;
  server.on('drop', options.refused);
  const handshakes = address.ssl ? new PendingHandshakes(server) : null;
  const headers = address.proxyProtocol ? expectProxyHeader(server, options.proxyHeader) : null;
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const where = `${address.ip.includes(':') ? `[${address.ip}]` : address.ip}:${address.port}`;
      reject(new Error(`cannot listen on ${where}: ${reasons[error.code ?? ''] ?? error.message}`));
    });
    const opened = (): void => {
      // A connection that could not be accepted (out of memory, rejected by a filter) affects no other connection.
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
        setTicketKeys: (keys) => replaceTicketKeys(server, keys),
        setCertificates: (cert, key) => own.replace(server, cert, key),
      });
    };
    // With a descriptor, the length of the queue is an argument of its own.
    if (options.descriptor !== null) server.listen({ fd: options.descriptor }, address.backlog, opened);
    else {
      server.listen(
        {
          host: address.ip,
          port: address.port,
          backlog: address.backlog,
          ipv6Only: address.ipv6only,
          reusePort: options.reusePort,
        },
        opened,
      );
    }
  });
}

function replaceTicketKeys(server: Server, keys: Uint8Array): void {
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

/** The TLS options of a listener; its certificates can be replaced. */
interface OwnCertificates {
  readonly current: TlsOptions;
  /** Sets the options on the server again; `tickets`: whether it issues session tickets. */
  apply(server: TlsServer, tickets: boolean): void;
  replace(server: Server, cert: readonly string[], key: readonly string[]): void;
}

function ownCertificates({ policy, cert, key }: ListenerOptions): OwnCertificates {
  let current: TlsOptions = { ...policyOptions(policy), cert: cert.map(pem), key: key.map(pem) };
  let issuesTickets = true;
  const apply = (server: TlsServer, tickets: boolean): void => {
    issuesTickets = tickets;
    const keys = server.getTicketKeys();
    server.setSecureContext(tickets ? current : { ...current, secureOptions: secureOptions(false) });
    server.setTicketKeys(keys);
  };
  return {
    get current() {
      return current;
    },
    apply,
    replace(server, newCert, newKey) {
      if (!('setSecureContext' in server)) return;
      current = { ...current, cert: [...newCert], key: [...newKey] };
      apply(server as TlsServer, issuesTickets);
    },
  };
}

function tlsServer(options: ListenerOptions, own: OwnCertificates): Server {
  if (options.cert.length === 0 || options.key.length === 0) {
    throw new Error(`${options.address.listener}: a listener with ssl needs ssl_cert and ssl_cert_key`);
  }
  const server = createTlsServer(
    {
      ...own.current,
      requestCert: false,
      // The plugin that needs a certificate verifies it.
      rejectUnauthorized: false,
      ...handshakeCallbacks(options),
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
  // A handshake that times out is reported here; nothing else closes it.
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    options.handshakeFailed(socket.remoteAddress ?? '', error.code ?? error.message, false);
    socket.destroy();
  });
  server.on('OCSPRequest', (certificate, _issuer, done) => {
    try {
      const response = options.ocspResponse(certificate);
      done(null, response === null ? (null as unknown as Buffer) : Buffer.from(response));
    } catch {
      // Without a response the client is no worse off than with a server that does not staple.
      done(null, null as unknown as Buffer);
    }
  });
  server.setTicketKeys(Buffer.from(options.ticketKeys));
  adaptCertificateRequests(server as TlsServer & { requestCert: boolean }, own, options);
  expectClientHello(server, options.choosesByKeyType, handshakeTimeout);
  return server;
}

/** Milliseconds. */
const handshakeTimeout = 30_000;

/**
 * Requests a certificate from TLS clients while a plugin wants one. The server reads `requestCert` for each connection.
 * Meanwhile it issues no session tickets: a resumed session has lost the intermediate certificates, and an older one
 * has no certificate at all. It issues none either while routes depend on server names: Node does not expose the name
 * of a resumed TLS 1.2 session.
 */
function adaptCertificateRequests(
  server: TlsServer & { requestCert: boolean },
  own: OwnCertificates,
  { wantsClientCertificates, needsServerNames }: ListenerOptions,
): void {
  let tickets = true;
  server.prependListener('connection', () => {
    const request = wantsClientCertificates();
    const issueTickets = !request && !needsServerNames();
    server.requestCert = request;
    if (issueTickets === tickets) return;
    tickets = issueTickets;
    own.apply(server, issueTickets);
  });
}

/** Returns PEM text unchanged, and reads the file when the value is a path. */
function pem(value: string): string {
  return value.includes('-----BEGIN') ? value : readFileSync(value, 'utf8');
}
