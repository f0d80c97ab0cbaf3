import {
  type ConnectionOptions,
  checkServerIdentity,
  connect as connectTls,
  createSecureContext,
  type DetailedPeerCertificate,
  type PeerCertificate,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import { monotonic } from '../../shared/util/time/clock.ts';
import type { UpstreamTls } from '../snapshot/runtime.ts';
import type { PoolAddress } from './pool-address.ts';

/** What connections of one TLS identity share. */
interface Shared {
  readonly context: SecureContext;
  /** The last session by address and name: resuming it costs a fraction of a full handshake. */
  readonly sessions: Map<string, ResumableSession>;
}

interface ResumableSession {
  readonly ticket: Buffer;
  /** When the backend was last verified in a full handshake, on the monotonic clock. */
  readonly verifiedAt: number;
}

/** Maximum sessions cached for one identity. An upstream with more addresses sometimes makes full handshakes. */
const maxSessions = 1_000;
/**
 * Milliseconds after which a backend is verified again: a resumed session does not repeat the check of its
 * certificates.
 */
const sessionLifetime = 3_600_000;

const sharedByIdentity = new WeakMap<UpstreamTls, Shared>();

/** Starts a TLS connection; `protocol` is the only one that the backend may select (ALPN). */
export function openTls(
  { ip, port, serverName }: PoolAddress,
  tls: UpstreamTls,
  protocol: 'http/1.1' | 'h2',
): TLSSocket {
  const { context, sessions } = sharedOf(tls);
  const key = `${ip} ${port} ${serverName} ${protocol}`;
  const session = resumable(sessions, key);
  const socket = connectTls({
    host: ip,
    port,
    secureContext: context,
    ...(serverName === '' ? {} : { servername: serverName }),
    ...verification(tls),
    ALPNProtocols: [protocol],
    ...(session === undefined ? {} : { session: session.ticket }),
  });
  socket.setNoDelay(true);
  keepSession(socket, sessions, key, session);
  return socket;
}

/** How the certificate of a backend is checked. */
export function verification({
  verify,
  verifyDepth,
}: UpstreamTls): Pick<ConnectionOptions, 'rejectUnauthorized' | 'checkServerIdentity'> {
  if (verifyDepth === null) return { rejectUnauthorized: verify };
  return {
    rejectUnauthorized: verify,
    checkServerIdentity: (host: string, peer: PeerCertificate) => checkDepth(host, peer, verifyDepth),
  };
}

/**
 * Caches the connection's session for later ones, once its backend is verified: Node checks name and depth only after a
 * full handshake.
 */
function keepSession(
  socket: TLSSocket,
  sessions: Shared['sessions'],
  key: string,
  offered: ResumableSession | undefined,
): void {
  let ticket: Buffer | null = null;
  let verifiedAt = -1;
  const keep = (): void => {
    if (ticket === null || verifiedAt < 0) return;
    if (sessions.size >= maxSessions) sessions.delete(sessions.keys().next().value as string);
    sessions.set(key, { ticket, verifiedAt });
  };
  socket.on('session', (fresh: Buffer) => {
    ticket = fresh;
    keep();
  });
  socket.once('secureConnect', () => {
    verifiedAt = offered !== undefined && socket.isSessionReused() ? offered.verifiedAt : monotonic();
    keep();
  });
  // A session that the backend rejects must not be offered again.
  if (offered !== undefined) socket.once('error', () => sessions.delete(key));
}

function resumable(sessions: Shared['sessions'], key: string): ResumableSession | undefined {
  const session = sessions.get(key);
  if (session === undefined || monotonic() - session.verifiedAt < sessionLifetime) return session;
  sessions.delete(key);
  return undefined;
}

function sharedOf(tls: UpstreamTls): Shared {
  let shared = sharedByIdentity.get(tls);
  if (shared === undefined) {
    const context = createSecureContext({
      minVersion: 'TLSv1.2',
      ...(tls.ca === null ? {} : { ca: [...tls.ca] }),
      ...(tls.cert === null || tls.key === null ? {} : { cert: tls.cert, key: tls.key }),
    });
    shared = { context, sessions: new Map() };
    sharedByIdentity.set(tls, shared);
  }
  return shared;
}

/** Maximum certificates between the backend's own and the authority (as OpenSSL and nginx count). */
function checkDepth(host: string, peer: PeerCertificate, depth: number): Error | undefined {
  const wrong = checkServerIdentity(host, peer);
  if (wrong !== undefined) return wrong;
  let certificates = 1;
  let one = peer as DetailedPeerCertificate;
  while (one.issuerCertificate !== undefined && one.issuerCertificate !== one) {
    one = one.issuerCertificate;
    certificates++;
  }
  if (certificates - 2 <= depth) return undefined;
  return new Error(
    `certificate chain too long: more than ${depth} certificates between the backend's and the authority`,
  );
}
