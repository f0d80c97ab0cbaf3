import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { UpstreamTls } from '../snapshot/runtime.ts';
import type { PoolAddress } from './pool.ts';

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
  const socket = connectTls({
    host: ip,
    port,
    ...(serverName === '' ? {} : { servername: serverName }),
    rejectUnauthorized: tls.verify,
    ALPNProtocols: [protocol],
    ...(tls.ca === null ? {} : { ca: [...tls.ca] }),
    ...(tls.cert === null || tls.key === null ? {} : { cert: tls.cert, key: tls.key }),
  });
  socket.setNoDelay(true);
  return socket;
}
