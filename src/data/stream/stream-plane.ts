import { createServer, type Server, type Socket } from 'node:net';
import { type LogSink, openLogSink } from '../../shared/logs/log-sink.ts';
import type { SettingsChange } from '../../shared/messages/messages.ts';
import { expectProxyHeader } from '../../shared/proxy-protocol/expect-proxy-header.ts';
import type { ListenAddress } from '../../shared/settings/settings.ts';
import {
  descriptorOf,
  descriptorsFor,
  type ListeningSocket,
  sharesPort,
  socketKey,
} from '../../shared/sockets/listening-sockets.ts';
import { plainIp } from '../../shared/util/net/plain-ip.ts';
import { TrustedPeers } from '../../shared/util/net/trusted-peers.ts';
import { throttledLog } from '../../shared/util/time/throttled-log.ts';
import { Counter } from '../../shared/zones/counters.ts';
import { clientAddress } from '../listener/client-address.ts';
import { closeWhenIdle } from '../listener/close-when-idle.ts';
import { runStreamLog } from './run-stream-log.ts';
import { Session } from './session.ts';
import { streamFormatter } from './stream-log.ts';
import type { StreamParts } from './stream-parts.ts';
import { TcpStream } from './tcp-stream.ts';
import { TlsTerminator } from './tls-terminator.ts';
import { UdpListener } from './udp-listener.ts';

/** The stream listeners of one worker. */
export class StreamPlane {
  readonly sockets: ListeningSocket[] = [];
  readonly #parts: StreamParts;
  readonly #streams = new Set<{ destroy(): void }>();
  readonly #stops: (() => void)[] = [];
  readonly #udp: UdpListener[] = [];
  readonly #trusted: TrustedPeers | null;
  readonly #log: LogSink | null;
  readonly #line: (session: Session) => string;
  readonly #refused: (text: string) => void;
  #terminator: TlsTerminator | null = null;
  readonly #servers: Server[] = [];
  #drained: (() => void) | null = null;

  /** Listens on every address of `stream_listen`. Rejects with one clear line when one fails. */
  static async start(parts: StreamParts): Promise<StreamPlane> {
    const plane = new StreamPlane(parts);
    try {
      for (const address of parts.settings.streamListen) {
        for (const descriptor of descriptorsFor(parts.inherited, address)) {
          await (address.udp ? plane.#listenForDatagrams(address, descriptor) : plane.#listen(address, descriptor));
        }
      }
    } catch (error) {
      await plane.close();
      throw error;
    }
    return plane;
  }

  private constructor(parts: StreamParts) {
    const { settings, log } = parts;
    this.#parts = parts;
    this.#trusted = settings.realIpHeader === 'proxy_protocol' ? new TrustedPeers(settings.trustedIps) : null;
    const { counters } = parts;
    const lost = (lines: number): void => {
      counters[Counter.logDropped]! += lines;
    };
    this.#log =
      settings.proxyStreamAccessLog === 'off'
        ? null
        : openLogSink(settings.proxyStreamAccessLog, { bytes: true, lost });
    this.#line = streamFormatter(settings.accessLogFormats.stream);
    this.#refused = throttledLog(10_000, (text, suppressed) => log.warn(text, { suppressed }));
  }

  async #listen(address: ListenAddress, descriptor: number | null): Promise<void> {
    const { settings } = this.#parts;
    const terminator = address.ssl ? this.#tls() : null;
    const server = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, (socket) =>
      this.#accept(server, socket, address, terminator),
    );
    server.maxConnections = settings.workerConnections;
    server.on('drop', () => this.#dropped(address));
    const headers = address.proxyProtocol
      ? expectProxyHeader(server, {
          timeout: settings.streamProxyProtocolTimeout,
          refused: (peer, reason) => this.#refused(`${address.listener}: connection of ${peer} closed: ${reason}`),
        })
      : null;
    const reusePort = sharesPort(settings, address);
    await listening(server, address, reusePort, descriptor);
    this.#opened(address, descriptorOf(server));
    this.#servers.push(server);
    this.#stops.push(() => {
      server.close();
      headers?.close();
    });
  }

  async #listenForDatagrams(address: ListenAddress, descriptor: number | null): Promise<void> {
    const listener = await UdpListener.listen({
      parts: this.#parts,
      address,
      reusePort: sharesPort(this.#parts.settings, address),
      descriptor,
      began: (session) => this.#began(session),
      ended: (session, facts) => this.#ended(session, facts),
    });
    this.#udp.push(listener);
    this.#stops.push(() => listener.drain());
    this.#opened(address, listener.descriptor);
  }

  #opened(address: ListenAddress, descriptor: number | null): void {
    if (descriptor === null) return;
    const reuseport = sharesPort(this.#parts.settings, address);
    this.sockets.push({ key: socketKey(address), descriptor, reuseport });
  }

  #tls(): TlsTerminator {
    this.#terminator ??= new TlsTerminator(this.#parts);
    return this.#terminator;
  }

  #accept(server: Server, socket: Socket, address: ListenAddress, terminator: TlsTerminator | null): void {
    const { settings } = this.#parts;
    const client = clientAddress(socket, address.proxyProtocol ? this.#trusted : null);
    const port = socket.localPort ?? address.port;
    const session = new Session(
      terminator === null ? 'tcp' : 'tls',
      client,
      plainIp(socket.localAddress ?? address.ip),
      settings.portMaps[port] ?? port,
    );
    const stream = new TcpStream({
      parts: this.#parts,
      session,
      server,
      socket,
      terminator,
      done: () => this.#ended(stream, session),
    });
    this.#began(stream);
    stream.begin();
  }

  #dropped({ listener }: ListenAddress): void {
    this.#parts.counters[Counter.connectionsAccepted]!++;
    this.#refused(`${listener}: stream closed: too many open streams in this worker`);
  }

  #began(stream: { destroy(): void }): void {
    const { counters } = this.#parts;
    counters[Counter.connectionsAccepted]!++;
    counters[Counter.connectionsHandled]!++;
    counters[Counter.connectionsActive]!++;
    counters[Counter.streamsAccepted]!++;
    counters[Counter.streamsActive]!++;
    // A stream is always active: it never counts as an idle connection.
    counters[Counter.connectionsWriting]!++;
    this.#streams.add(stream);
  }

  #ended(stream: { destroy(): void }, session: Session): void {
    const { counters } = this.#parts;
    counters[Counter.connectionsActive]!--;
    counters[Counter.streamsActive]!--;
    counters[Counter.connectionsWriting]!--;
    counters[Counter.bytesReceived]! += session.bytesReceived;
    counters[Counter.bytesSent]! += session.bytesSent;
    this.#log?.write(this.#line(session));
    runStreamLog(session);
    this.#streams.delete(stream);
    if (this.#streams.size === 0) this.#drained?.();
  }

  /** Stops accepting, lets the open streams continue for so many milliseconds, then closes the rest. */
  async drain(timeout: number): Promise<void> {
    await closeWhenIdle(this.#servers);
    for (const stop of this.#stops.splice(0)) stop();
    await this.#finish(timeout);
  }

  /** Another process accepts on the same sockets: lets the open streams continue for so many milliseconds, then closes the rest. */
  async handOver(timeout: number): Promise<void> {
    for (const listener of this.#udp) listener.stopReceiving();
    for (const stop of this.#stops.splice(0)) stop();
    await this.#finish(timeout);
  }

  async #finish(timeout: number): Promise<void> {
    if (this.#streams.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, timeout);
      this.#drained = resolve;
      await promise;
      clearTimeout(timer);
    }
    await this.close();
  }

  setTicketKeys(keys: Uint8Array): void {
    this.#terminator?.setTicketKeys(keys);
  }

  change({ trustedIps, sslCert, sslCertKey }: SettingsChange): void {
    if (trustedIps !== undefined) this.#trusted?.replace(trustedIps);
    if (sslCert === undefined || sslCertKey === undefined) return;
    if (this.#terminator !== null) this.#terminator.setCertificates(sslCert, sslCertKey);
  }

  reopenLogs(): void {
    this.#log?.reopen();
  }

  /** Closes everything at once. */
  async close(): Promise<void> {
    this.#drained = null;
    for (const stop of this.#stops.splice(0)) stop();
    for (const stream of [...this.#streams]) stream.destroy();
    for (const listener of this.#udp.splice(0)) listener.close();
    await this.#log?.close();
  }
}

function listening(
  server: Server,
  address: ListenAddress,
  reusePort: boolean,
  descriptor: number | null,
): Promise<void> {
  const { ip, port, backlog, ipv6only } = address;
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(new Error(`cannot listen on ${ip.includes(':') ? `[${ip}]` : ip}:${port}: ${error.message}`));
    });
    const opened = (): void => {
      // A connection that could not be accepted affects no other connection.
      server.on('error', () => {});
      resolve();
    };
    if (descriptor !== null) server.listen({ fd: descriptor }, backlog, opened);
    else server.listen({ host: ip, port, backlog, ipv6Only: ipv6only, reusePort }, opened);
  });
}
