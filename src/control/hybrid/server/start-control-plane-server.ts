import { X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { WebSocketServer } from 'ws';
import {
  descriptorOf,
  descriptorsFor,
  type ListeningSocket,
  socketKey,
} from '../../../shared/sockets/listening-sockets.ts';
import { PendingHandshakes } from '../../../shared/tls/pending-handshakes.ts';
import { awaitWithTimeout } from '../../../shared/util/time/await-with-timeout.ts';
import { FairQueue } from '../../../shared/util/time/fair-queue.ts';
import type {
  ConnectedDataPlane,
  ControlPlaneServer,
  ControlPlaneServerOptions,
  HybridListenAddress,
} from '../contract.ts';
import { linkTimes } from '../protocol/link-times.ts';
import { type LinkTls, linkTls } from '../protocol/link-tls.ts';
import { linkPath } from '../protocol/messages.ts';
import { ConfigFeed } from './config-feed.ts';
import { type DataPlaneRights, dataPlaneRights } from './data-plane-rights.ts';
import { DataPlaneSession, type SessionOptions } from './data-plane-session.ts';
import { FairPlaces } from './fair-places.ts';
import { HeldBytes } from './held-bytes.ts';
import { RefusalLog } from './refusal-log.ts';
import { StoreCallHandler } from './store-call-handler.ts';

const defaultMaxDataPlanes = 10_000;
/** New connections in a second; others are asked to come later. A handshake costs about a millisecond. */
const maxJoinsPerSecond = 200;
/** Calls that run at a time, of all data planes and of one: it must not have all connections to the database (`pg_pool_size`, 10). */
const concurrency = 128;
const concurrencyOfOne = 6;
/** Part of `cluster_timeout` that a transaction may work. */
const commitShare = 0.5;
/** Bytes that all data planes together may make this process hold. */
const maxHeld = 128 * 1024 * 1024;
const maxWaiting = 100_000;
const maxWaitingOfOne = 4096;
/** Milliseconds for a data plane that leaves at the last moment. */
const leaveMargin = 500;
const refusalsShownFor = 600_000;
const maxRefusalsShown = 100;

/** For tests: rights for other entities, and a smaller maximum of bytes. */
export interface ServerInternals {
  /** Default: `dataPlaneRights`. */
  readonly rights?: DataPlaneRights;
  /** Default: 128 MB, or four messages of the maximum size. */
  readonly maxHeldBytes?: number;
}

/** Accepts data planes. Rejects when an address cannot be bound or a certificate cannot be used. */
export async function startControlPlaneServer(
  options: ControlPlaneServerOptions,
  internals: ServerInternals = {},
): Promise<ControlPlaneServer> {
  const server = new LinkServer(options, internals);
  try {
    for (const address of options.listen) await server.listen(address);
  } catch (error) {
    await server.close();
    throw error;
  }
  return server;
}

class LinkServer implements ControlPlaneServer {
  readonly addresses: { readonly ip: string; readonly port: number }[] = [];
  readonly sockets: ListeningSocket[] = [];
  readonly #options: ControlPlaneServerOptions;
  readonly #session: SessionOptions;
  readonly #feed: ConfigFeed;
  readonly #queue = new FairQueue({
    concurrency,
    concurrencyPerGroup: concurrencyOfOne,
    maxWaiting,
    maxWaitingPerGroup: maxWaitingOfOne,
  });
  readonly #upgrades: WebSocketServer;
  readonly #servers: Server[] = [];
  readonly #pending: PendingHandshakes[] = [];
  readonly #sessions = new Set<DataPlaneSession>();
  readonly #refused = new Map<string, ConnectedDataPlane>();
  readonly #places: FairPlaces<DataPlaneSession>;
  readonly #refusals: RefusalLog;
  #tls: LinkTls;
  #connections = 0;
  #closing = false;
  #onEmpty = (): void => {};

  constructor(options: ControlPlaneServerOptions, internals: ServerInternals) {
    const { settings, store, entities, publisher, cached, log, nodeId, hostname, version } = options;
    const { maxDataPlanes = defaultMaxDataPlanes } = options;
    const { rights = dataPlaneRights, maxHeldBytes = Math.max(maxHeld, 4 * settings.maxPayload) } = internals;
    this.#options = options;
    this.#refusals = new RefusalLog(log);
    this.#places = new FairPlaces({ max: maxDataPlanes, perSecond: maxJoinsPerSecond });
    this.#tls = linkTls(settings);
    this.#feed = new ConfigFeed({ publisher, store, entities, rights, log, maxPayload: settings.maxPayload });
    const { pingInterval, silence } = linkTimes(options.times);
    this.#session = {
      node: { nodeId, hostname, version },
      feed: this.#feed,
      calls: new StoreCallHandler({
        store,
        entities,
        rights,
        cached,
        followed: () => publisher.position.version,
        maxCommitTime: settings.timeout * commitShare,
      }),
      queue: this.#queue,
      held: new HeldBytes(maxHeldBytes),
      maxPayload: settings.maxPayload,
      timeout: settings.timeout,
      pingInterval,
      silence,
      log,
    };
    this.#upgrades = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: settings.maxPayload,
    });
  }

  async listen(address: HybridListenAddress): Promise<void> {
    const { settings, inherited = {} } = this.#options;
    const server = createServer({
      ...this.#serverContext(),
      handshakeTimeout: settings.timeout,
      headersTimeout: settings.timeout,
      requestTimeout: settings.timeout,
      keepAliveTimeout: 1000,
      maxHeaderSize: 8192,
    });
    this.#refusals.watch(server);
    server.prependListener('secureConnection', (socket: TLSSocket) => this.#inspect(socket));
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#refusals.spoke(request.socket);
      const status = pathOf(request) === linkPath ? 426 : 404;
      response.writeHead(
        status,
        status === 426 ? { connection: 'close, upgrade', upgrade: 'websocket' } : { connection: 'close' },
      );
      response.end();
    });
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.#upgrade(request, socket, head),
    );
    this.#pending.push(new PendingHandshakes(server));
    this.#servers.push(server);
    const { ip, port, backlog = 511, reuseport = false, ipv6only = false } = address;
    const [descriptor = null] = descriptorsFor(inherited, { ip, port, udp: false });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      const onListening = (): void => {
        server.off('error', reject);
        server.on('error', (error) => this.#options.log.log('error', 'the port of data planes', { err: error }));
        resolve();
      };
      if (descriptor !== null) server.listen({ fd: descriptor }, onListening);
      else server.listen({ host: ip, port, backlog, reusePort: reuseport, ipv6Only: ipv6only }, onListening);
    });
    const bound = server.address();
    const actual = typeof bound === 'object' && bound !== null ? bound.port : port;
    this.addresses.push({ ip, port: actual });
    const own = descriptorOf(server);
    if (own !== null) {
      this.sockets.push({ key: socketKey({ ip, port: actual, udp: false }), descriptor: own, reuseport });
    }
  }

  dataPlanes(): readonly ConnectedDataPlane[] {
    const connected = [...this.#sessions].flatMap((session) => session.describe() ?? []);
    const ids = new Set(connected.map(({ id }) => id));
    const since = Date.now() - refusalsShownFor;
    const refused = [...this.#refused.values()].filter(({ id, seenAt }) => seenAt > since && !ids.has(id));
    return [...connected, ...refused];
  }

  setTls(settings: Parameters<ControlPlaneServer['setTls']>[0]): void {
    this.#tls = linkTls({ ...this.#options.settings, ...settings });
    for (const server of this.#servers) server.setSecureContext(this.#serverContext());
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#refusals.close();
    const closed = this.#servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
    for (const pending of this.#pending) pending.close();
    const { leave } = linkTimes(this.#options.times);
    for (const session of this.#sessions) session.leave(leave);
    await awaitWithTimeout(this.#empty(), leave + leaveMargin);
    for (const session of this.#sessions) session.close();
    this.#feed.close();
    this.#queue.close();
    for (const server of this.#servers) server.closeAllConnections();
    await Promise.all(closed);
  }

  #empty(): Promise<void> {
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
      if (this.#sessions.size === 0) resolve();
    });
  }

  /** Servers of Node do not know pinned certificates of an authority (`allowPartialTrustChain`), so `#inspect` decides. */
  #serverContext(): LinkTls['context'] {
    return { ...this.#tls.context, rejectUnauthorized: false };
  }

  /** Before the first byte is read as HTTP. */
  #inspect(socket: TLSSocket): void {
    const problem = this.#tls.problemOf(socket.getPeerX509Certificate(), socket.authorized);
    if (problem === null) {
      this.#refusals.admitted(socket);
      return;
    }
    this.#refusals.refused(problem, socket);
    socket.destroy();
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#refusals.spoke(socket);
    socket.on('error', () => socket.destroy());
    if (pathOf(request) !== linkPath) {
      refuse(socket, '404 Not Found');
      return;
    }
    const { maxDataPlanes = defaultMaxDataPlanes, log } = this.#options;
    const { remoteAddress = '' } = request.socket;
    if (this.#closing || !this.#places.admits(remoteAddress)) {
      refuse(socket, '503 Service Unavailable', 'Retry-After: 2\r\n');
      return;
    }
    const certificate = (request.socket as TLSSocket).getPeerX509Certificate();
    this.#upgrades.handleUpgrade(request, socket, head, (webSocket) => {
      const peer = {
        connection: this.#connections++,
        ip: remoteAddress,
        certificateExpiry: certificate instanceof X509Certificate ? certificate.validToDate.getTime() : 0,
      };
      const session = new DataPlaneSession(webSocket, peer, this.#session);
      this.#sessions.add(session);
      this.#places.add(session);
      socket.on('data', (data: Buffer) => session.arrived(data.length));
      webSocket.once('close', () => {
        this.#sessions.delete(session);
        this.#places.remove(session);
        if (this.#sessions.size === 0) this.#onEmpty();
        const last = session.describe();
        if (last !== null && last.refused !== null) this.#noteRefusal(last);
      });
      if (this.#places.taken === maxDataPlanes) {
        log.log('warn', 'no more data planes are accepted', { connected: maxDataPlanes });
      }
    });
  }

  #noteRefusal(refused: ConnectedDataPlane): void {
    this.#refused.delete(refused.id);
    this.#refused.set(refused.id, refused);
    const [oldest] = this.#refused.keys();
    if (this.#refused.size > maxRefusalsShown && oldest !== undefined) this.#refused.delete(oldest);
  }
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}

function refuse(socket: Duplex, status: string, headers = ''): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n${headers}\r\n`);
}
