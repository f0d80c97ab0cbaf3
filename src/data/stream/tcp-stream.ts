import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { readFirstBytes } from '../../shared/proxy-protocol/first-bytes.ts';
import type { SocketOwner } from '../../shared/util/net/socket-owner.ts';
import { adoptSocket, adoptTlsSocket } from '../listener/accept.ts';
import { inspectClientHello, maxClientHelloLength } from '../listener/client-hello.ts';
import type { RuntimeService } from '../snapshot/runtime.ts';
import { admit } from './admit.ts';
import { type BackendAddress, BackendSearch } from './backend-search.ts';
import { connectBackend } from './backend-socket.ts';
import { Relay } from './relay.ts';
import { type Session, Status } from './session.ts';
import type { StreamParts } from './stream-parts.ts';
import type { TlsTerminator } from './tls-terminator.ts';

export interface TcpStreamOptions {
  readonly parts: StreamParts;
  readonly session: Session;
  /** The server that accepted the socket. */
  readonly server: Server;
  /** Paused, and not read so far. */
  readonly socket: Socket;
  /** Null: the listener accepts plain streams. */
  readonly terminator: TlsTerminator | null;
  /** Nothing more happens; called once. */
  readonly done: (stream: TcpStream) => void;
}

/** One TCP or TLS stream, from the accepted connection to its end. */
export class TcpStream {
  readonly session: Session;
  readonly #options: TcpStreamOptions;
  #client: Socket;
  /** The gateway terminates the client's TLS. */
  #terminated = false;
  #search: BackendSearch | null = null;
  #cancel: (() => void) | null = null;
  #relay: Relay | null = null;
  #over = false;

  constructor(options: TcpStreamOptions) {
    this.#options = options;
    this.session = options.session;
    this.#client = options.socket;
  }

  /** A TLS stream begins with its ClientHello; in a plain stream the server may send first. */
  begin(): void {
    const { socket, terminator, parts } = this.#options;
    // A reset between two owners must not be an uncaught exception.
    socket.on('error', ignore);
    if (terminator === null) {
      this.#guarded(() => this.#route());
      return;
    }
    this.#cancel = readFirstBytes(socket, {
      inspect: inspectClientHello,
      limit: maxClientHelloLength,
      timeout: parts.settings.streamPrereadTimeout,
      done: ({ serverName }) => {
        this.session.serverName = serverName;
        // Later bytes are for the next reader, including the end of the client's sending.
        stopReading(socket);
        this.#guarded(() => this.#route());
      },
      failed: () => this.#end(Status.badRequest),
    });
  }

  #route(): void {
    const { parts, terminator } = this.#options;
    const { session } = this;
    const service = admit(session, parts.snapshot.current);
    if (service === null) this.#end(session.status);
    else if (terminator === null || session.protocol === 'tls_passthrough') this.#connect(service);
    else this.#terminate(terminator, service);
  }

  #terminate(terminator: TlsTerminator, service: RuntimeService): void {
    this.#terminated = true;
    const secured = (socket: TLSSocket): void => {
      if (this.#over) return;
      socket.on('error', ignore);
      this.#client = socket;
      if (this.session.plan !== null) this.session.tls = tlsFacts(socket);
      if (agrees(socket, this.session.serverName)) this.#guarded(() => this.#connect(service));
      else this.#end(Status.badRequest);
    };
    terminator.terminate(this.#options.socket, secured, () => this.#end(Status.badRequest));
  }

  #connect(service: RuntimeService): void {
    this.#search = new BackendSearch(this.#options.parts, service, this.session, {
      attempt: (address) => this.#attempt(service, address),
      exhausted: (status) => this.#end(status),
    });
    this.#search.begin();
  }

  #attempt(service: RuntimeService, address: BackendAddress): void {
    if (this.#client.destroyed) {
      this.#end(Status.ok);
      return;
    }
    this.#cancel = connectBackend({
      address,
      // In passthrough, the bytes are TLS already.
      tls: this.session.protocol === 'tls_passthrough' ? null : service.tls,
      timeout: service.timeouts.connect,
      connected: (backend) => {
        let owner: SocketOwner | null = null;
        this.#guarded(() => {
          this.#search?.reached();
          owner = this.#startRelay(service, backend);
        });
        if (owner === null) backend.destroy();
        return owner;
      },
      failed: (timedOut, cause) => {
        this.#options.parts.log.info('stream: connection to a backend failed', { ...address, cause });
        this.#guarded(() => this.#search?.failed(timedOut, cause));
      },
    });
  }

  #startRelay({ timeouts }: RuntimeService, backend: Socket): SocketOwner {
    const { server } = this.#options;
    const relay = new Relay(timeouts, () => this.#end(Status.ok));
    this.#relay = relay;
    this.#cancel = null;
    relay.backend.socket = backend;
    const own = (socket: Socket): SocketOwner => {
      this.#client = socket;
      relay.client.socket = socket;
      return relay.client;
    };
    // The close event of a client that has disconnected meanwhile was emitted already.
    if (this.#client.destroyed) {
      relay.client.socket = this.#client;
      relay.client.closed();
    } else if (this.#terminated) adoptTlsSocket(this.#client, own);
    else adoptSocket(server, this.#client, own);
    return relay.backend;
  }

  /** For callbacks above which no caller would catch an exception. */
  #guarded(step: () => void): void {
    try {
      step();
    } catch (error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.#options.parts.log.error('a stream failed unexpectedly', { error: text });
      this.#end(Status.internal);
    }
  }

  /** Ends it at once, in any state. */
  destroy(): void {
    this.#end(Status.ok);
  }

  #end(status: number): void {
    if (this.#over) return;
    this.#over = true;
    const { session } = this;
    session.status = status;
    if (this.#relay !== null) {
      const { client, backend } = this.#relay;
      session.bytesReceived = client.bytes;
      session.bytesSent = client.sent;
      session.upstreamReceived = backend.bytes;
      session.upstreamSent = backend.sent;
    }
    this.#cancel?.();
    this.#search?.close();
    this.#relay?.destroy();
    this.#client.destroy();
    this.#options.socket.destroy();
    this.#options.done(this);
  }
}

/** The route was chosen by the name that was read before TLS: both must be the same. */
function agrees(socket: TLSSocket, serverName: string): boolean {
  const { servername: name } = socket as { readonly servername?: string | false | null };
  if (typeof name === 'string') return name.toLowerCase().replace(/\.$/, '') === serverName;
  // Node does not expose the name of a resumed TLS 1.2 session.
  return serverName === '' || socket.isSessionReused();
}

function tlsFacts(socket: TLSSocket): Session['tls'] {
  return { version: socket.getProtocol() ?? '', cipher: socket.getCipher()?.name ?? '' };
}

interface Readable {
  readonly _handle?: { reading: boolean; readStop(): void } | null;
}

function stopReading(socket: Socket): void {
  const { _handle: handle } = socket as unknown as Readable;
  if (handle === null || handle === undefined || !handle.reading) return;
  handle.reading = false;
  handle.readStop();
}

function ignore(): void {}
