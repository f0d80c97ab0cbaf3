import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import type { AddressZone } from '../balancer/address-zone.ts';
import { PassiveHealth } from '../balancer/health/passive-health.ts';
import { type ErrorEntry, errors } from '../errors.ts';
import { DownstreamConnection, type DownstreamHost, type DownstreamLimits } from '../http1/downstream-connection.ts';
import { DownstreamSession, type Refusal, type SessionHost } from '../http2/downstream-session.ts';
import { PrefaceConnection } from '../http2/preface-connection.ts';
import type { SocketOwner } from '../listener/accept.ts';
import { type Listener, listen } from '../listener/listener.ts';
import { closeWhenQuiet } from '../listener/quiet-close.ts';
import { plainIp, remoteEnd } from '../listener/remote-end.ts';
import type { UsageRecorder } from '../observability/analytics/usage-recorder.ts';
import { beginPlugins, runLog } from '../plugin-runner/phases.ts';
import type { PluginLogger } from '../plugin-sdk/define-plugin.ts';
import type { ListenAddress } from '../settings/settings.ts';
import type { RuntimeSnapshot } from '../snapshot/runtime.ts';
import type { WorkerNames } from '../upstream/worker-names.ts';
import { nowAndThen } from '../util/now-and-then.ts';
import { requestId } from '../util/request-ids.ts';
import { TrustedPeers } from '../util/trusted-peers.ts';
import type { FromWorker, WorkerBoot } from '../workers/messages.ts';
import { Counter } from '../zones/counters.ts';
import { AccessLines } from './access-lines.ts';
import { BodyBudget } from './body-budget.ts';
import { BackendCalls } from './calls/backend-calls.ts';
import { type ClientConnection, type DownstreamHandler, firstRequestGrace } from './downstream.ts';
import { errorBody } from './error-body.ts';
import type { DownstreamPeer, Exchange } from './exchange.ts';
import { LateExplainer } from './explain/late-explainer.ts';
import { FailureLog } from './failure-log.ts';
import { RequestHandler } from './handle-request.ts';
import { handshakeContext } from './handshake-context.ts';
import { requestBytes, responseBytes } from './log-record.ts';
import { maskedRequestLine } from './masked-arguments.ts';
import { type ProxyOptions, proxyOptions } from './options.ts';
import { Overload } from './overload.ts';
import { RequestProxy } from './proxy.ts';
import { replyError } from './reply.ts';
import { gatewayBlock, responseHead, responseLines, statusText } from './response-head.ts';
import { SocketPeer } from './socket-peer.ts';

export interface DataPlaneOptions {
  readonly boot: WorkerBoot;
  /** Holds the snapshot of now; swapped between two requests. */
  readonly snapshot: { readonly current: RuntimeSnapshot };
  /** This worker's row of the counters. */
  readonly counters: Float64Array;
  readonly log: PluginLogger;
  readonly names: WorkerNames;
  readonly zone: AddressZone;
  /** Counts requests; null: nobody does. */
  readonly usage: UsageRecorder | null;
  /** Tells the control plane. */
  readonly post: (message: FromWorker) => void;
}

/** One worker's proxy listeners and everything behind them. */
export interface DataPlane {
  readonly ports: readonly number[];
  /** Asks clients to use another connection from now on. They and new clients are still served. */
  announceEnd(): void;
  /** Stops accepting, lets what is in flight finish within the time, closes the rest. */
  drain(timeout: number): Promise<void>;
  reopenLogs(): void;
  setTicketKeys(keys: Uint8Array): void;
  /** Ends at once. */
  close(): Promise<void>;
}

/** `Allow` of a 405 (RFC 9110 15.5.6). The gateway forwards every method except CONNECT and TRACE. */
const allowLine = 'Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n';

/** Listens on every proxy address. Rejects with one clear line when it cannot. */
export async function startDataPlane(options: DataPlaneOptions): Promise<DataPlane> {
  const plane = new WorkerDataPlane(options);
  await plane.listen();
  return plane;
}

class WorkerDataPlane implements DataPlane, DownstreamHost, SessionHost, DownstreamHandler {
  readonly limits: DownstreamLimits;
  readonly handler: DownstreamHandler = this;
  readonly snapshots: { readonly current: RuntimeSnapshot };
  readonly ports: number[] = [];
  draining = false;
  /** The listeners are closed or about to be. */
  #closing = false;
  readonly #boot: WorkerBoot;
  readonly #options: ProxyOptions;
  readonly #counters: Float64Array;
  readonly #log: PluginLogger;
  readonly #proxy: RequestProxy;
  readonly #requests: RequestHandler;
  readonly #calls: BackendCalls;
  readonly #trusted: TrustedPeers;
  readonly #accessLog: AccessLines | null;
  readonly #overload: Overload;
  readonly #bodies: BodyBudget;
  readonly #usage: UsageRecorder | null;
  readonly #connections = new Set<ClientConnection>();
  readonly #listeners: Listener[] = [];
  #serial = 0;
  #drained: (() => void) | null = null;

  constructor({ boot, snapshot, counters, log, names, zone, usage, post }: DataPlaneOptions) {
    const { settings } = boot;
    this.#boot = boot;
    this.snapshots = snapshot;
    this.#counters = counters;
    this.#log = log;
    this.#usage = usage;
    this.#options = proxyOptions(settings);
    this.limits = {
      maxHeadSize: settings.maxHeadSize,
      maxHeaderCount: settings.maxHeaderCount,
      headTimeout: settings.clientHeaderTimeout,
      bodyTimeout: settings.clientBodyTimeout,
      bodyMinRate: settings.clientBodyMinRate,
      sendTimeout: settings.sendTimeout,
      keepaliveTimeout: settings.keepaliveTimeout,
      keepaliveRequests: settings.keepaliveRequests,
      maxBodySize: settings.clientMaxBodySize,
    };
    const pool = {
      size: settings.upstreamKeepalive.poolSize,
      maxRequests: settings.upstreamKeepalive.maxRequests,
      idleTimeout: settings.upstreamKeepalive.idleTimeout,
      maxHeadSize: settings.maxHeadSize,
      maxHeaderCount: settings.maxHeaderCount,
    };
    this.#proxy = new RequestProxy({
      options: this.#options,
      pool,
      names,
      counters,
      zone,
      reports: new PassiveHealth(zone, post),
      failures: new FailureLog(log),
      unexpected: (x, error) => this.unexpected(x, error),
    });
    this.#calls = new BackendCalls(this.#proxy, settings.trustedCertificates);
    this.#trusted = new TrustedPeers(settings.trustedIps);
    const token = settings.requestDebugToken;
    const explainer =
      !settings.requestDebug || token === null ? null : new LateExplainer({ token, options: this.#options, zone, log });
    this.#requests = new RequestHandler(this.#options, this.#proxy, this.#trusted, explainer);
    this.#overload = new Overload({
      maxLag: settings.overloadLag,
      heapLimit: boot.heapLimit,
      maxHeap: settings.overloadHeap,
      heapTimeout: settings.workerTimeout,
      heapStaysFull: (used) => post({ type: 'heap-full', used }),
      changed: (reason) => this.#noteOverload(reason),
    });
    this.#bodies = new BodyBudget({
      total: settings.bodyMemory,
      perClient: settings.bodyMemoryPerClient,
      refused: () => this.#counters[Counter.shed]!++,
      began: (client) =>
        log.warn('body memory is used up; answering 503 to requests whose bodies plugins read', { client }),
      ended: (refusals) => log.warn('body memory is available again', { refusals }),
    });
    this.#accessLog =
      settings.proxyAccessLog === 'off' ? null : new AccessLines(settings, (lines) => this.#noteLost(lines));
  }

  #noteLost(lines: number): void {
    this.#counters[Counter.logDropped]! += lines;
  }

  #noteOverload(reason: string | null): void {
    if (reason === null) this.#log.warn('overload is over: all requests are served again');
    else this.#log.warn(`overload: ${reason}; requests are refused with 503`);
  }

  async listen(): Promise<void> {
    const { settings } = this.#boot;
    const noCertificate = nowAndThen(1_000, (reason, unsaid) =>
      this.#log.error('a TLS client could not be shown its certificate', { reason, unsaid }),
    );
    const unfinished = nowAndThen(1_000, (reason, unsaid) =>
      this.#log.debug('a TLS handshake failed', { reason, unsaid }),
    );
    const refused = nowAndThen(10_000, (text, unsaid) => this.#log.warn(text, { unsaid }));
    for (const address of settings.proxyListen) {
      const listener = await listen({
        address,
        reusePort: settings.workers > 1 || address.reuseport,
        maxConnections: settings.workerConnections,
        refused: () => {
          this.#counters[Counter.connectionsAccepted]!++;
          refused(`${address.listener}: a connection was closed: as many are open as one worker may have`);
        },
        cert: settings.sslCert,
        key: settings.sslCertKey,
        policy: settings.tlsPolicy,
        ticketKeys: this.#boot.ticketKeys,
        contextFor: (name, challenge, ecdsa, clientIp) =>
          handshakeContext(this.snapshots.current, name, challenge, ecdsa, clientIp),
        choosesByKey: () => this.snapshots.current.choosesByKey,
        handshakeFailed: (peer, reason, own) => (own ? noCertificate(reason) : unfinished(`${peer}: ${reason}`)),
        takesChallenges: () => this.snapshots.current.globalPlan.certificate.length > 0,
        wantsClientCertificates: () => this.snapshots.current.wantsClientCertificates,
        ocspResponse: (certificate) => this.snapshots.current.ocspResponse(certificate),
        needsServerNames: () => this.snapshots.current.routesByServerName,
        proxyHeader: {
          timeout: settings.clientHeaderTimeout,
          refused: (peer, reason) => refused(`${address.listener}: connection of ${peer} closed: ${reason}`),
        },
        accept: (socket, on) => this.#accept(socket, on),
      });
      this.#listeners.push(listener);
      this.ports.push(listener.port);
    }
  }

  #accept(socket: Socket, address: ListenAddress): SocketOwner | null {
    this.#counters[Counter.connectionsAccepted]!++;
    this.#counters[Counter.connectionsHandled]!++;
    this.#counters[Counter.connectionsActive]!++;
    const peer = this.#peer(socket, address);
    if (!address.http2) return this.#track(new DownstreamConnection(socket, peer, this));
    if (!address.ssl) return this.#track(new PrefaceConnection(socket, peer, this));
    // A socket that is gone already can carry no session.
    if ((socket as TLSSocket).alpnProtocol !== 'h2' || socket.destroyed)
      return this.#track(new DownstreamConnection(socket, peer, this));
    this.#track(new DownstreamSession(socket, peer, this));
    return null;
  }

  #track<T extends ClientConnection>(connection: T): T {
    this.#connections.add(connection);
    if (this.#closing) connection.drain();
    return connection;
  }

  #peer(socket: Socket, address: ListenAddress): DownstreamPeer {
    const believed = address.proxyProtocol && this.#options.realIpHeader === 'proxy_protocol' ? this.#trusted : null;
    const { ip: peerIp, port: peerPort } = remoteEnd(socket, believed);
    const port = socket.localPort ?? address.port;
    return new SocketPeer(address.ssl ? (socket as TLSSocket) : null, {
      peerIp,
      peerPort,
      localIp: plainIp(socket.localAddress ?? address.ip),
      localPort: this.#boot.settings.portMaps[port] ?? port,
      trusted: this.#trusted.has(peerIp),
      serial: ++this.#serial,
      calls: this.#calls,
      bodies: this.#bodies,
    });
  }

  // DownstreamHost

  responseHead(x: Exchange, framing: string): string {
    return responseHead(x, framing, this.#options);
  }

  closed(connection: ClientConnection): void {
    if (!this.#connections.delete(connection)) return;
    this.#counters[Counter.connectionsActive]!--;
    if (this.#connections.size === 0) this.#drained?.();
  }

  protocolError(connection: DownstreamConnection, error: ErrorEntry, request: string | Exchange): string {
    const { status, block, body } = this.refusal(connection.peer, error, request);
    return `${statusText(status, '')}${block}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
  }

  // SessionHost

  responseBlock(x: Exchange): string {
    return responseLines(x, this.#options);
  }

  refusal(peer: DownstreamPeer, error: ErrorEntry, request: string | Exchange): Refusal {
    this.#counters[Counter.badRequests]!++;
    const id = typeof request === 'string' ? requestId() : request.id;
    const { contentType, body } = errorBody(error.message, id, null, this.#options.errorDefaultType);
    if (typeof request === 'string') {
      this.#counters[Counter.requests]!++;
      const { secretArguments, logMasks } = this.snapshots.current.globalPlan;
      const line = request.slice(0, Math.max(0, Math.min(request.indexOf('\r\n'), 2048)));
      this.#accessLog?.writeRefused({
        peer,
        time: Date.now(),
        line: maskedRequestLine(line, secretArguments, logMasks),
        status: error.status,
        bodyBytes: Buffer.byteLength(body),
        id,
      });
    }
    const allow = error === errors.methodNotAllowed ? allowLine : '';
    const block = `${gatewayBlock(this.#options)}${allow}Content-Type: ${contentType}\r\nX-Kong-Request-Id: ${id}\r\n`;
    return { status: error.status, block, body };
  }

  // DownstreamHandler

  request(x: Exchange): void {
    this.#counters[Counter.requests]!++;
    this.#counters[Counter.connectionsWriting]!++;
    if (this.#overload.active && this.#overload.refuse()) {
      this.#counters[Counter.shed]!++;
      replyError(x, errors.overloaded, this.#options);
      return;
    }
    try {
      this.#requests.handle(x);
    } catch (error) {
      this.unexpected(x, error);
    }
  }

  /** A bug or broken I/O: 500 with the request's id, and the cause in the error log. */
  unexpected(x: Exchange | null, error: unknown): void {
    this.#log.error('request failed unexpectedly', {
      request_id: x?.id,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
    if (x === null || x.finished) return;
    x.upstream?.destroy();
    x.upstream = null;
    if (x.headSent) x.downstream.abort(x);
    else this.#replyUnexpected(x);
  }

  #replyUnexpected(x: Exchange): void {
    try {
      if (!x.plan.empty) beginPlugins(x);
      replyError(x, errors.unexpected, this.#options);
    } catch (error) {
      // What failed once may fail again over the answer that tells of it.
      this.#log.error('request failed unexpectedly', { request_id: x.id, error: String(error) });
      x.downstream.abort(x);
    }
  }

  downstreamDrained(x: Exchange): void {
    this.#proxy.downstreamDrained(x);
  }

  downstreamAborted(x: Exchange): void {
    this.#proxy.downstreamAborted(x);
  }

  requestBodyTooLarge(x: Exchange): void {
    this.#proxy.downstreamAborted(x);
    x.buffered = null;
    replyError(x, x.bodyLimited ? errors.requestSizeExceeded : errors.payloadTooLarge, this.#options);
  }

  finished(x: Exchange): void {
    this.#counters[Counter.connectionsWriting]!--;
    this.#counters[Counter.bytesReceived]! += x.bytesReceived;
    this.#counters[Counter.bytesSent]! += x.bytesSent;
    this.#proxy.finished(x);
    if (x.heldBytes > 0) this.#bodies.release(x);
    if (this.#usage !== null) this.#usage.record(x, requestBytes(x), responseBytes(x));
    if (x.context !== null) runLog(x);
    this.#accessLog?.write(x);
  }

  // DataPlane

  announceEnd(): void {
    this.draining = true;
    for (const connection of this.#connections) connection.announceEnd();
  }

  async drain(timeout: number): Promise<void> {
    this.draining = true;
    this.#closing = true;
    await closeWhenQuiet(this.#listeners.map(({ server }) => server));
    for (const connection of this.#connections) connection.drain();
    await this.#handshakesDone();
    return new Promise((resolve) => {
      const timer = setTimeout(finish, timeout);
      const close = (): Promise<void> => this.close();
      this.#drained = finish;
      if (this.#connections.size === 0) finish();
      function finish(): void {
        clearTimeout(timer);
        close().then(resolve, () => resolve());
      }
    });
  }

  async #handshakesDone(): Promise<void> {
    const end = performance.now() + firstRequestGrace;
    while (this.#listeners.some(({ pending }) => pending > 0) && performance.now() < end) await wait(10);
    for (const listener of this.#listeners) listener.closePending();
  }

  setTicketKeys(keys: Uint8Array): void {
    for (const listener of this.#listeners) listener.setTicketKeys(keys);
  }

  reopenLogs(): void {
    this.#accessLog?.reopen();
  }

  async close(): Promise<void> {
    this.#drained = null;
    this.#overload.close();
    this.#bodies.close();
    for (const listener of this.#listeners) {
      listener.stop();
      listener.closePending();
    }
    for (const connection of this.#connections) connection.socket.destroy();
    this.#proxy.close();
    await this.#accessLog?.close();
  }
}
