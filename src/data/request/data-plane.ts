import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import type { PluginLogger } from '../../plugin-sdk/tools.ts';
import type { ErrorEntry } from '../../shared/errors.ts';
import { maskedRequestLine } from '../../shared/logs/masked-arguments.ts';
import type { FromWorker, SettingsChange, WorkerBoot } from '../../shared/messages/messages.ts';
import type { ListenAddress, Settings } from '../../shared/settings/settings.ts';
import { descriptorOf, type ListeningSocket, sharesPort, socketKey } from '../../shared/sockets/listening-sockets.ts';
import { RequestMeter } from '../../shared/usage/request-meter.ts';
import { plainIp } from '../../shared/util/net/plain-ip.ts';
import { ownSocket, type SocketOwner } from '../../shared/util/net/socket-owner.ts';
import { TrustedPeers } from '../../shared/util/net/trusted-peers.ts';
import { requestId } from '../../shared/util/request-ids.ts';
import type { AddressZone } from '../../shared/zones/address-zone.ts';
import { Counter } from '../../shared/zones/counters.ts';
import { AccessLines } from '../answer/access-lines.ts';
import { Answers } from '../answer/answer.ts';
import type { Refusal } from '../answer/gateway-answer.ts';
import { AttemptRecords } from '../attempt/attempt-records.ts';
import { Attempts } from '../attempt/attempts.ts';
import { FailureLog } from '../attempt/failure-log.ts';
import { PassiveHealth } from '../balancer/passive-health.ts';
import { BackendCalls } from '../calls/backend-calls.ts';
import { type OutsideClient, outsidePeer } from '../embedded/outside-request.ts';
import { LateExplainer } from '../explain/late-explainer.ts';
import { DownstreamConnection } from '../http1/downstream-connection.ts';
import { type AddressBudgets, workerAddressBudgets } from '../http2/address-budgets.ts';
import type { http2Connection } from '../http2/http2-connection.ts';
import { clientAddress } from '../listener/client-address.ts';
import { closeWhenIdle } from '../listener/close-when-idle.ts';
import type { Listener } from '../listener/listener.ts';
import type { RuntimeSnapshot } from '../snapshot/runtime.ts';
import type { TrafficRecorder } from '../traffic/traffic-recorder.ts';
import type { OpenBackend } from '../upstream/pool-address.ts';
import type { WorkerResolver } from '../upstream/worker-resolver.ts';
import type { UsageRecorder } from '../usage/usage-recorder.ts';
import { BodyBudget } from './body-budget.ts';
import { type ClientConnection, firstRequestGrace } from './downstream.ts';
import { type DownstreamHost, type DownstreamLimits, downstreamLimits } from './downstream-host.ts';
import type { DownstreamPeer, Exchange } from './exchange.ts';
import { RequestHandler } from './handle-request.ts';
import { type ListenersParts, openListeners } from './open-listeners.ts';
import { type ProxyOptions, proxyOptions } from './options.ts';
import { Overload } from './overload.ts';
import { SocketPeer } from './socket-peer.ts';

export interface DataPlaneOptions {
  readonly boot: WorkerBoot;
  /** Holds the current snapshot, which is replaced between two requests. */
  readonly snapshot: { readonly current: RuntimeSnapshot };
  /** This worker's row of the counters. */
  readonly counters: Float64Array;
  readonly log: PluginLogger;
  readonly names: WorkerResolver;
  readonly zone: AddressZone;
  /** Counts requests for analytics; null: they are not counted. */
  readonly usage: UsageRecorder | null;
  /** Sends a message to the control plane. */
  readonly post: (message: FromWorker) => void;
  /** Default: the network. */
  readonly transport?: DataPlaneTransport | undefined;
}

/** How clients and backends are reached in place of the network. */
export interface DataPlaneTransport {
  /** Passes connections of clients to `accept` from now on; `opened` is for listeners with a real socket. */
  listen(parts: ListenersParts): Promise<void>;
  readonly open: OpenBackend;
}

/** Milliseconds before the end of a drain in which WebSockets and event streams are ended, if they are not half of it. */
const streamEndTime = 1_000;
/** Milliseconds between two attempts to end those that could not be ended yet. */
const streamEndInterval = 50;

/** Makes the client's side of requests; `host` is the data plane. */
export type MakeClientSide<T> = (peer: DownstreamPeer, host: DownstreamHost) => T;

/** One worker's proxy listeners and everything that serves them. */
export interface DataPlane {
  readonly ports: readonly number[];
  readonly sockets: readonly ListeningSocket[];
  /** Asks clients to use another connection. They and new clients are still served. */
  announceEnd(): void;
  /**
   * Stops accepting, waits `timeout` milliseconds for requests in flight, then closes the rest. WebSockets, event streams and gRPC
   * streams are ended in an orderly way in the last second of it.
   */
  drain(timeout: number): Promise<void>;
  /**
   * Another process accepts on the same sockets. Clients are asked to use another connection; those that do not wait, at most
   * `timeout` milliseconds. An idle HTTP/1.1 connection stays open for its next request, so that none meets a closed connection.
   */
  handOver(timeout: number): Promise<void>;
  /** Records traffic from now on; null: no longer. */
  record(recorder: TrafficRecorder | null): void;
  reopenLogs(): void;
  setTicketKeys(keys: Uint8Array): void;
  /** Applies settings that a reload has changed. */
  change(settings: SettingsChange): void;
  /** Listens on one more address, with the certificates of these settings; resolves to its port. Rejects with one clear line. */
  open(address: ListenAddress, settings: Settings): Promise<number>;
  /** Adds the client's side of requests that another server of this thread receives. */
  attach<T extends ClientConnection>(client: OutsideClient, make: MakeClientSide<T>): T;
  /** Serves one request of a connection that another server of this thread has accepted, and closes it. `bytes`: what was read of it. */
  adopt(socket: Socket, client: OutsideClient, bytes: Uint8Array): void;
  /** Ends at once. */
  close(): Promise<void>;
}

/** Listens on every proxy address. Rejects with one clear line when it cannot. */
export async function startDataPlane(options: DataPlaneOptions): Promise<DataPlane> {
  const plane = new WorkerDataPlane(options);
  await plane.listen();
  return plane;
}

class WorkerDataPlane implements DataPlane, DownstreamHost {
  readonly limits: DownstreamLimits;
  readonly options: ProxyOptions;
  readonly handler: RequestHandler;
  readonly snapshots: { readonly current: RuntimeSnapshot };
  readonly ports: number[] = [];
  readonly sockets: ListeningSocket[] = [];
  readonly budgets: AddressBudgets;
  draining = false;
  /** The listeners are closed or about to be. */
  #closing = false;
  readonly #boot: WorkerBoot;
  readonly #transport: DataPlaneTransport | undefined;
  readonly #counters: Float64Array;
  readonly #log: PluginLogger;
  readonly #answers: Answers;
  readonly #attempts: Attempts;
  readonly #calls: BackendCalls;
  readonly #trusted: TrustedPeers;
  readonly #accessLog: AccessLines | null;
  readonly #overload: Overload;
  readonly #bodies: BodyBudget;
  readonly #connections = new Set<ClientConnection>();
  readonly #listeners: Listener[] = [];
  readonly #outsidePeers = new WeakMap<OutsideClient, DownstreamPeer>();
  /** Null: no listener speaks HTTP/2. */
  #http2: typeof http2Connection | null = null;
  #serial = 0;
  #drained: (() => void) | null = null;

  constructor({ boot, snapshot, counters, log, names, zone, usage, post, transport }: DataPlaneOptions) {
    const { settings } = boot;
    this.#boot = boot;
    this.#transport = transport;
    this.snapshots = snapshot;
    this.#counters = counters;
    this.#log = log;
    this.options = proxyOptions(settings);
    this.limits = downstreamLimits(settings);
    const pool = {
      size: settings.upstreamKeepalive.poolSize,
      maxRequests: settings.upstreamKeepalive.maxRequests,
      idleTimeout: settings.upstreamKeepalive.idleTimeout,
      maxHeadSize: settings.maxHeadSize,
      maxHeaderCount: settings.maxHeaderCount,
      open: transport?.open,
    };
    const unexpected = (x: Exchange | null, error: unknown): void => this.unexpected(x, error);
    this.#answers = new Answers(this.options, unexpected);
    const reports = new PassiveHealth(zone, post);
    const records = new AttemptRecords({ counters, zone, reports, failures: new FailureLog(log) });
    this.#attempts = new Attempts({ answers: this.#answers, records, pool, names, unexpected });
    this.#calls = new BackendCalls(this.#attempts, settings.trustedCertificates);
    this.#trusted = new TrustedPeers(settings.trustedIps);
    const token = settings.requestDebugToken;
    const explained = settings.requestDebug && token !== null;
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
    this.budgets = workerAddressBudgets(settings.http2BudgetPerClient, counters, log);
    const lost = (lines: number): void => {
      counters[Counter.logDropped]! += lines;
    };
    this.#accessLog = settings.proxyAccessLog === 'off' ? null : new AccessLines(settings, lost);
    this.handler = new RequestHandler({
      options: this.options,
      answers: this.#answers,
      attempts: this.#attempts,
      trusted: this.#trusted,
      explainer: explained
        ? new LateExplainer({ token, key: boot.requestKey, trusted: this.#trusted, options: this.options, zone, log })
        : null,
      overload: this.#overload,
      counters,
      bodies: this.#bodies,
      meter: new RequestMeter(boot.meter, boot.worker),
      usage,
      accessLog: this.#accessLog,
      log,
    });
  }

  #noteOverload(reason: string | null): void {
    if (reason === null) this.#log.warn('overload is over: all requests are served again');
    else this.#log.warn(`overload: ${reason}; requests are refused with 503`);
  }

  listen(): Promise<void> {
    return this.#listen(this.#boot);
  }

  async open(address: ListenAddress, settings: Settings): Promise<number> {
    await this.#listen({ ...this.#boot, settings: { ...settings, proxyListen: [address] } });
    return this.ports.at(-1) ?? 0;
  }

  async #listen(boot: WorkerBoot): Promise<void> {
    if (boot.settings.proxyListen.some(({ http2 }) => http2)) {
      this.#http2 ??= (await import('../http2/http2-connection.ts')).http2Connection;
    }
    const parts: ListenersParts = {
      boot,
      log: this.#log,
      snapshots: this.snapshots,
      accept: (socket, address) => this.#accept(socket, address),
      acceptsHttp2: (socket, address) => !this.budgets.active || this.budgets.admits(this.#client(socket, address)),
      refused: () => this.#counters[Counter.connectionsAccepted]!++,
      opened: (listener, address) => {
        this.#listeners.push(listener);
        this.ports.push(listener.port);
        const descriptor = descriptorOf(listener.server);
        const { settings } = this.#boot;
        if (descriptor === null) return;
        this.sockets.push({ key: socketKey(address), descriptor, reuseport: sharesPort(settings, address) });
      },
    };
    await (this.#transport === undefined ? openListeners(parts) : this.#transport.listen(parts));
  }

  #accept(socket: Socket, address: ListenAddress): SocketOwner {
    this.#counters[Counter.connectionsAccepted]!++;
    this.#counters[Counter.connectionsHandled]!++;
    this.#counters[Counter.connectionsActive]!++;
    const peer = this.#peer(socket, address);
    if (!address.http2 || this.#http2 === null) return this.#track(new DownstreamConnection(socket, peer, this));
    return this.#track(this.#http2(socket, address, peer, this));
  }

  #track<T extends ClientConnection>(connection: T): T {
    this.#connections.add(connection);
    if (this.#closing) connection.drain();
    return connection;
  }

  #peer(socket: Socket, address: ListenAddress): DownstreamPeer {
    const port = socket.localPort ?? address.port;
    return new SocketPeer(address.ssl ? (socket as TLSSocket) : null, {
      ...this.#client(socket, address),
      localIp: plainIp(socket.localAddress ?? address.ip),
      localPort: this.#boot.settings.portMaps[port] ?? port,
      serial: ++this.#serial,
      calls: this.#calls,
      bodies: this.#bodies,
    });
  }

  #client(socket: Socket, address: ListenAddress): Pick<DownstreamPeer, 'peerIp' | 'peerPort' | 'trusted'> {
    const proxies = address.proxyProtocol && this.options.realIpHeader === 'proxy_protocol' ? this.#trusted : null;
    const { ip, port } = clientAddress(socket, proxies);
    return { peerIp: ip, peerPort: port, trusted: this.#trusted.has(ip) };
  }

  attach<T extends ClientConnection>(client: OutsideClient, make: MakeClientSide<T>): T {
    this.#counters[Counter.connectionsActive]!++;
    const side = make(this.#outsidePeer(client), this);
    this.#connections.add(side);
    return side;
  }

  adopt(socket: Socket, client: OutsideClient, bytes: Uint8Array): void {
    this.#counters[Counter.connectionsAccepted]!++;
    this.#counters[Counter.connectionsHandled]!++;
    this.#counters[Counter.connectionsActive]!++;
    const connection = this.#track(new DownstreamConnection(socket, this.#outsidePeer(client), this));
    ownSocket(socket, connection);
    if (connection.received(bytes, bytes.byteLength)) socket.resume();
    else socket.pause();
  }

  /** The same for all requests of a connection: it has the lines that are the same in all of them. */
  #outsidePeer(client: OutsideClient): DownstreamPeer {
    let peer = this.#outsidePeers.get(client);
    if (peer === undefined) {
      peer = outsidePeer(client, {
        trusted: this.#trusted.has(client.ip),
        serial: ++this.#serial,
        calls: this.#calls,
        bodies: this.#bodies,
      });
      this.#outsidePeers.set(client, peer);
    }
    peer.requests++;
    return peer;
  }

  // DownstreamHost

  closed(connection: ClientConnection): void {
    if (!this.#connections.delete(connection)) return;
    this.#counters[Counter.connectionsActive]!--;
    if (this.#connections.size === 0) this.#drained?.();
  }

  unexpected(x: Exchange | null, error: unknown): void {
    this.handler.unexpected(x, error);
  }

  refusal(peer: DownstreamPeer, error: ErrorEntry, request: string | Exchange): Refusal {
    this.#counters[Counter.badRequests]!++;
    const id = typeof request === 'string' ? requestId() : request.id;
    const refusal = this.#answers.refusal(error, id);
    if (typeof request === 'string') {
      this.#counters[Counter.requests]!++;
      const { secretArguments, logMasks } = this.snapshots.current.globalPlan;
      const line = request.slice(0, Math.max(0, Math.min(request.indexOf('\r\n'), 2048)));
      this.#accessLog?.writeRefused({
        peer,
        time: Date.now(),
        line: maskedRequestLine(line, secretArguments, logMasks),
        status: error.status,
        bodyBytes: Buffer.byteLength(refusal.body),
        id,
      });
    }
    return refusal;
  }

  // DataPlane

  announceEnd(): void {
    this.draining = true;
    for (const connection of this.#connections) connection.announceEnd();
  }

  async drain(timeout: number): Promise<void> {
    this.draining = true;
    this.#closing = true;
    await closeWhenIdle(this.#listeners.map(({ server }) => server));
    for (const connection of this.#connections) connection.drain();
    await this.#handshakesDone();
    return new Promise((resolve) => {
      const timer = setTimeout(finish, timeout);
      const cancelEnd = this.#endStreamsBefore(timeout);
      const close = (): Promise<void> => this.close();
      this.#drained = finish;
      if (this.#connections.size === 0) finish();
      function finish(): void {
        clearTimeout(timer);
        cancelEnd();
        close().then(resolve, () => resolve());
      }
    });
  }

  async handOver(timeout: number): Promise<void> {
    for (const listener of this.#listeners) listener.stop();
    this.announceEnd();
    const announced = setInterval(() => {
      for (const connection of this.#connections) connection.closeAnnounced();
    }, firstRequestGrace);
    const end = performance.now() + timeout;
    const cancelEnd = this.#endStreamsBefore(timeout);
    const pending = (): boolean => this.#connections.size > 0 || this.#listeners.some((each) => each.pending > 0);
    while (pending() && performance.now() < end) await wait(Math.min(100, Math.max(1, end - performance.now())));
    clearInterval(announced);
    cancelEnd();
    await this.close();
  }

  /** Ends streams shortly before `timeout` milliseconds have passed. Returns a function that cancels it. */
  #endStreamsBefore(timeout: number): () => void {
    const end = (): void => {
      for (const connection of this.#connections) connection.endStreams();
    };
    let interval: NodeJS.Timeout | undefined;
    const timer = setTimeout(
      () => {
        end();
        interval = setInterval(end, streamEndInterval);
      },
      Math.max(timeout - streamEndTime, timeout / 2),
    );
    return () => {
      clearTimeout(timer);
      clearInterval(interval);
    };
  }

  async #handshakesDone(): Promise<void> {
    const end = performance.now() + firstRequestGrace;
    while (this.#listeners.some(({ pending }) => pending > 0) && performance.now() < end) await wait(10);
    for (const listener of this.#listeners) listener.closePending();
  }

  setTicketKeys(keys: Uint8Array): void {
    for (const listener of this.#listeners) listener.setTicketKeys(keys);
  }

  change({ trustedIps, sslCert, sslCertKey }: SettingsChange): void {
    if (trustedIps !== undefined) this.#trusted.replace(trustedIps);
    if (sslCert === undefined || sslCertKey === undefined) return;
    for (const listener of this.#listeners) listener.setCertificates(sslCert, sslCertKey);
  }

  record(recorder: TrafficRecorder | null): void {
    this.handler.traffic = recorder;
  }

  reopenLogs(): void {
    this.#accessLog?.reopen();
  }

  async close(): Promise<void> {
    const drained = this.#drained;
    this.#drained = null;
    // A drain that is cut short leaves no timer: the thread may go on without the plane.
    drained?.();
    this.#overload.close();
    this.#bodies.close();
    for (const listener of this.#listeners) {
      listener.stop();
      listener.closePending();
    }
    for (const connection of this.#connections) connection.socket.destroy();
    this.#attempts.close();
    await this.#accessLog?.close();
  }
}
