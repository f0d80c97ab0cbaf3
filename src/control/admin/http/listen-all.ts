import type { TlsOptions, Server as TlsServer } from 'node:tls';
import type { FastifyInstance, FastifyListenOptions } from 'fastify';
import { expectProxyHeader, type WaitingConnections } from '../../../shared/proxy-protocol/expect-proxy-header.ts';
import type { ListenAddress, Settings } from '../../../shared/settings/settings.ts';
import {
  descriptorOf,
  descriptorsFor,
  type InheritedDescriptors,
  type ListeningSocket,
  socketKey,
} from '../../../shared/sockets/listening-sockets.ts';
import type { RunningListener } from '../contract.ts';
import type { ServerOptions } from './create-app.ts';
import { type CloseApp, trackConnections } from './track-connections.ts';

/** Creates the app of one address, not yet listening. */
export type CreateApp = (server: ServerOptions) => FastifyInstance;

export interface ListenOptions {
  readonly settings: Settings;
  readonly inherited: InheritedDescriptors;
  readonly tlsOf: (settings: Settings) => TlsOptions | null;
  /** Called for an optional address that cannot be listened on; without it, it fails as the others do. */
  readonly unavailable?: (address: ListenAddress, error: unknown) => void;
}

/** One app for each address: an app listens in plain text or with TLS, never both. */
export async function listenAll(
  addresses: readonly ListenAddress[],
  { settings, inherited, tlsOf, unavailable }: ListenOptions,
  create: CreateApp,
): Promise<RunningListener> {
  const tls = tlsOf(settings);
  const closeApps: CloseApp[] = [];
  const waiting: WaitingConnections[] = [];
  const sockets: ListeningSocket[] = [];
  const servers: TlsServer[] = [];
  const bound: { readonly ip: string; readonly port: number; readonly ssl: boolean }[] = [];
  const close = async (graceful: boolean): Promise<void> => {
    for (const { close: closeWaiting } of waiting) closeWaiting();
    await Promise.all(closeApps.map((closeApp) => closeApp(graceful)));
  };
  try {
    for (const address of addresses) {
      if (address.ssl && tls === null) throw new Error(`${address.listener} needs a certificate and a key`);
      const app = create(address.ssl && tls !== null ? { https: { ...tls, http2: address.http2 } } : {});
      closeApps.push(trackConnections(app));
      if (address.proxyProtocol) waiting.push(expectProxyHeader(app.server, proxyHeader));
      const [descriptor = null] = descriptorsFor(inherited, address);
      try {
        await app.listen({ ...listenOptions(address), ...(descriptor === null ? {} : { fd: descriptor }) });
      } catch (error) {
        if (address.optional !== true || unavailable === undefined) throw error;
        unavailable(address, error);
        continue;
      }
      if (address.ssl) servers.push(app.server as unknown as TlsServer);
      const port = portOf(app, address);
      bound.push({ ip: address.ip, port, ssl: address.ssl });
      const own = descriptorOf(app.server);
      if (own === null) continue;
      sockets.push({ key: socketKey({ ...address, port }), descriptor: own, reuseport: address.reuseport });
    }
  } catch (error) {
    await close(false);
    throw error;
  }
  const setTls = (next: Settings): void => {
    const context = tlsOf(next);
    if (context !== null) for (const server of servers) server.setSecureContext(context);
  };
  return { addresses: bound, sockets, close, handOver: () => close(true), setTls };
}

/** The header is read and ignored: the Admin API uses the address of the connection itself. */
const proxyHeader = { timeout: 10_000, refused: () => {} };

/** Fastify passes options that it does not know to Node. */
function listenOptions(address: ListenAddress): FastifyListenOptions & { reusePort: boolean } {
  return {
    host: address.ip,
    port: address.port,
    backlog: address.backlog,
    ipv6Only: address.ipv6only,
    reusePort: address.reuseport,
    listenTextResolver: () => '',
  };
}

function portOf(app: FastifyInstance, address: ListenAddress): number {
  const actual = app.server.address();
  return typeof actual === 'object' && actual !== null ? actual.port : address.port;
}
