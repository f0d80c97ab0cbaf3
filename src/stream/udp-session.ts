import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { monotonic } from '../util/clock.ts';
import { Deadline } from '../util/deadlines.ts';
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

/** Datagrams and bytes of a client that are kept while its backend's address is looked for. */
const mostKept = 16;
const mostKeptBytes = 65_536;
/** How long a session goes on without a datagram once the node stops, in milliseconds. */
const lastWait = 1_000;

/** What one client address sends to a listener, and what its backend answers; over when neither has sent for a while. */
export class UdpSession {
  readonly #options: UdpSessionOptions;
  readonly #idle = new Deadline(() => this.#end(Status.ok));
  #timeout = 0;
  #search: BackendSearch | null = null;
  #backend: Socket | null = null;
  #kept: Buffer[] | null = [];
  #keptBytes = 0;
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
      gaveUp: (status) => this.#end(status),
    });
    this.#search.begin();
  }

  /** A datagram of the client. */
  received(datagram: Buffer): void {
    if (this.#over) return;
    this.#options.session.bytesReceived += datagram.length;
    this.#touch();
    if (this.#kept === null) this.#send(datagram);
    else if (this.#kept.length < mostKept && this.#keptBytes + datagram.length <= mostKeptBytes) {
      this.#kept.push(datagram);
      this.#keptBytes += datagram.length;
    }
  }

  #send(datagram: Buffer): void {
    this.#options.session.upstreamSent += datagram.length;
    this.#backend?.send(datagram, ignore);
  }

  #open({ ip, port }: BackendAddress): void {
    const backend = createSocket(isIPv6(ip) ? 'udp6' : 'udp4');
    this.#backend = backend;
    // The backend's machine says that nobody is there; the client's next datagram begins anew, at the next target.
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
      this.#options.session.joined = true;
      for (const datagram of this.#kept ?? []) this.#send(datagram);
      this.#kept = null;
    });
  }

  /** No datagram is waited for very long any more. */
  drain(): void {
    this.#timeout = this.#timeout === 0 ? lastWait : Math.min(this.#timeout, lastWait);
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
    this.#kept = null;
    this.#options.done();
  }
}

/** An error of sending comes as an event, too. */
function ignore(): void {}
