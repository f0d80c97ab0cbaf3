import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { monotonic } from '../../shared/util/time/clock.ts';
import { Deadline } from '../../shared/util/time/deadlines.ts';
import { admit } from './admit.ts';
import { type BackendAddress, BackendSearch } from './backend-search.ts';
import { type Session, Status } from './session.ts';
import type { StreamParts } from './stream-parts.ts';

export interface UdpSessionOptions {
  readonly parts: StreamParts;
  readonly session: Session;
  /** Sends a datagram to the client. */
  readonly answer: (datagram: Buffer) => void;
  /** Nothing more happens; called once. */
  readonly done: () => void;
}

/** Datagrams and bytes of a client that are queued while its backend's address is resolved. */
const maxQueued = 16;
const maxQueuedBytes = 65_536;
/** Idle time of a session once the node stops, in milliseconds. */
const drainIdleTimeout = 1_000;

/**
 * What one client address sends to a listener, and what its backend answers. Ends when neither has sent for a while.
 */
export class UdpSession {
  readonly #options: UdpSessionOptions;
  readonly #idle = new Deadline(() => this.#end(Status.ok));
  #timeout = 0;
  #search: BackendSearch | null = null;
  #backend: Socket | null = null;
  #queue: Buffer[] | null = [];
  #queuedBytes = 0;
  #over = false;

  constructor(options: UdpSessionOptions) {
    this.#options = options;
  }

  begin(): void {
    const { parts, session } = this.#options;
    const service = admit(session, parts.snapshot.current);
    if (service === null) {
      this.#end(session.status);
      return;
    }
    this.#timeout = service.timeouts.idle;
    this.#touch();
    this.#search = new BackendSearch(parts, service, session, {
      attempt: (address) => this.#open(address),
      exhausted: (status) => this.#end(status),
    });
    this.#search.begin();
  }

  /** A datagram of the client. */
  received(datagram: Buffer): void {
    if (this.#over) return;
    this.#options.session.bytesReceived += datagram.length;
    this.#touch();
    if (this.#queue === null) this.#send(datagram);
    else if (this.#queue.length < maxQueued && this.#queuedBytes + datagram.length <= maxQueuedBytes) {
      this.#queue.push(datagram);
      this.#queuedBytes += datagram.length;
    }
  }

  #send(datagram: Buffer): void {
    this.#options.session.upstreamSent += datagram.length;
    this.#backend?.send(datagram, ignore);
  }

  #open({ ip, port }: BackendAddress): void {
    const backend = createSocket(isIPv6(ip) ? 'udp6' : 'udp4');
    this.#backend = backend;
    // The backend's port is closed (ICMP). The next datagram of the client starts again, at the next target.
    backend.on('error', () => {
      if (this.#over) return;
      this.#search?.lost(false);
      this.#end(Status.badGateway);
    });
    backend.on('message', (datagram: Buffer) => {
      if (this.#over) return;
      this.#options.session.bytesSent += datagram.length;
      this.#options.session.upstreamReceived += datagram.length;
      this.#touch();
      this.#options.answer(datagram);
    });
    backend.connect(port, ip, () => {
      if (this.#over) return;
      this.#options.session.connected = true;
      for (const datagram of this.#queue ?? []) this.#send(datagram);
      this.#queue = null;
    });
  }

  /** Shortens the idle time. */
  drain(): void {
    this.#timeout = this.#timeout === 0 ? drainIdleTimeout : Math.min(this.#timeout, drainIdleTimeout);
    this.#touch();
  }

  destroy(): void {
    this.#end(Status.ok);
  }

  #touch(): void {
    this.#idle.set(this.#timeout, monotonic());
  }

  #end(status: number): void {
    if (this.#over) return;
    this.#over = true;
    this.#options.session.status = status;
    this.#idle.clear();
    this.#search?.close();
    this.#backend?.close();
    this.#queue = null;
    this.#options.done();
  }
}

/** A send error is also emitted as an event. */
function ignore(): void {}
