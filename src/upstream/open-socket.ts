import { connect as connectTcp, type Socket } from 'node:net';
import {
  checkServerIdentity,
  connect as connectTls,
  createSecureContext,
  type DetailedPeerCertificate,
  type PeerCertificate,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import type { UpstreamTls } from '../snapshot/runtime.ts';
import type { PoolAddress } from './pool.ts';

/** What connections of one TLS identity have in common. */
interface Shared {
  readonly context: SecureContext;
  /** The last session by address and name: a handshake that goes on from it costs a fraction of a full one. */
  readonly sessions: Map<string, Buffer>;
}

/** Sessions kept for one identity; an upstream of more addresses than that makes full handshakes now and then. */
const mostSessions = 1_000;

const sharedByIdentity = new WeakMap<UpstreamTls, Shared>();

/** Begins to connect by TCP. */
export function openPlain({ ip, port }: PoolAddress): Socket {
  return connectTcp({ host: ip, port, noDelay: true });
}

/** Begins to connect by TLS; `protocol` is the only one that the backend may speak inside (ALPN). */
export function openTls(
  { ip, port, serverName }: PoolAddress,
  tls: UpstreamTls,
  protocol: 'http/1.1' | 'h2',
): TLSSocket {
  const { context, sessions } = sharedOf(tls);
  const key = `${ip} ${port} ${serverName} ${protocol}`;
  const session = sessions.get(key);
  const { verifyDepth } = tls;
  const socket = connectTls({
    host: ip,
    port,
    secureContext: context,
    ...(serverName === '' ? {} : { servername: serverName }),
    rejectUnauthorized: tls.verify,
    ...(verifyDepth === null
      ? {}
      : { checkServerIdentity: (host: string, peer: PeerCertificate) => checkDepth(host, peer, verifyDepth) }),
    ALPNProtocols: [protocol],
    ...(session === undefined ? {} : { session }),
  });
  socket.setNoDelay(true);
  socket.on('session', (fresh: Buffer) => {
    if (sessions.size >= mostSessions) sessions.delete(sessions.keys().next().value as string);
    sessions.set(key, fresh);
  });
  // A session that the backend takes offence at must not be offered again.
  if (session !== undefined) socket.once('error', () => sessions.delete(key));
  return socket;
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

/** Certificates between the backend's own and the authority may be this many (as OpenSSL counts, and nginx with it). */
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
