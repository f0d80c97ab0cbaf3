import type { Socket } from 'node:net';
import type { PluginLogger } from '../../plugin-sdk/tools.ts';
import type { WorkerBoot } from '../../shared/messages/messages.ts';
import type { ListenAddress } from '../../shared/settings/settings.ts';
import { descriptorsFor, sharesPort } from '../../shared/sockets/listening-sockets.ts';
import type { SocketOwner } from '../../shared/util/net/socket-owner.ts';
import { throttledLog } from '../../shared/util/time/throttled-log.ts';
import { type Listener, listen } from '../listener/listener.ts';
import type { RuntimeSnapshot } from '../snapshot/runtime.ts';
import { handshakeContext } from './handshake-context.ts';

export interface ListenersParts {
  readonly boot: WorkerBoot;
  readonly log: PluginLogger;
  readonly snapshots: { readonly current: RuntimeSnapshot };
  /** Null: the socket needs no owner. */
  readonly accept: (socket: Socket, address: ListenAddress) => SocketOwner | null;
  /** Whether a TLS client may use HTTP/2. */
  readonly acceptsHttp2: (socket: Socket, address: ListenAddress) => boolean;
  /** A connection was closed because the worker has too many. */
  readonly refused: () => void;
  readonly opened: (listener: Listener, address: ListenAddress) => void;
}

/** Listens on every proxy address, one after the other. Rejects with one clear line when it cannot. */
export async function openListeners(parts: ListenersParts): Promise<void> {
  const { boot, log, snapshots, accept, acceptsHttp2, refused, opened } = parts;
  const { settings } = boot;
  const noCertificate = throttledLog(1_000, (reason, suppressed) =>
    log.error('a TLS client could not be shown its certificate', { reason, suppressed }),
  );
  const unfinished = throttledLog(1_000, (reason, suppressed) =>
    log.debug('a TLS handshake failed', { reason, suppressed }),
  );
  const warn = throttledLog(10_000, (text, suppressed) => log.warn(text, { suppressed }));
  const wanted = settings.proxyListen.flatMap((address) =>
    descriptorsFor(boot.inherited, address).map((descriptor) => ({ address, descriptor })),
  );
  for (const { address, descriptor } of wanted) {
    const listener = await listen({
      address,
      reusePort: sharesPort(settings, address),
      descriptor,
      maxConnections: settings.workerConnections,
      refused: () => {
        refused();
        warn(`${address.listener}: a connection was closed: as many are open as one worker may have`);
      },
      cert: settings.sslCert,
      key: settings.sslCertKey,
      policy: settings.tlsPolicy,
      ticketKeys: boot.ticketKeys,
      contextFor: (name, challenge, ecdsa, clientIp) =>
        handshakeContext(snapshots.current, name, challenge, ecdsa, clientIp),
      choosesByKeyType: () => snapshots.current.choosesByKeyType,
      handshakeFailed: (peer, reason, own) => (own ? noCertificate(reason) : unfinished(`${peer}: ${reason}`)),
      acceptsChallenges: () => snapshots.current.globalPlan.certificate.length > 0,
      acceptsHttp2: (socket) => acceptsHttp2(socket, address),
      wantsClientCertificates: () => snapshots.current.wantsClientCertificates,
      ocspResponse: (certificate) => snapshots.current.ocspResponse(certificate),
      needsServerNames: () => snapshots.current.routesByServerName,
      proxyHeader: {
        timeout: settings.clientHeaderTimeout,
        refused: (peer, reason) => warn(`${address.listener}: connection of ${peer} closed: ${reason}`),
      },
      accept,
    });
    opened(listener, address);
  }
}
