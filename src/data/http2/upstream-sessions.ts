import { connect as connectTcp, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type ErrorEntry, errors } from '../../shared/errors.ts';
import { sharedReadBuffer } from '../../shared/util/bytes/read-buffer.ts';
import { ownSocket } from '../../shared/util/net/socket-owner.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { Deadline } from '../../shared/util/time/deadlines.ts';
import { adoptTlsSocket } from '../listener/accept.ts';
import type { UpstreamLink } from '../request/exchange.ts';
import { connectCause } from '../upstream/connect-cause.ts';
import { openTls } from '../upstream/open-socket.ts';
import type { PoolOptions } from '../upstream/pool.ts';
import type { PoolAddress } from '../upstream/pool-address.ts';
import type { ResponseListener, UpstreamSource } from '../upstream/upstream-link.ts';
import { type SessionOwner, UpstreamSession } from './upstream-session.ts';

/** Maximum sessions with one address, whatever its backend allows on each. */
const maxSessions = 100;
/** Streams that a backend is expected to allow before it has announced it (RFC 9113 6.5.2 recommends no less). */
const expectedStreams = 100;

/** A request that waits for a stream. */
interface Waiter {
  readonly connected: (link: UpstreamLink) => void;
  readonly failed: (error: ErrorEntry, cause: string) => void;
  readonly deadline: Deadline;
}

/**
 * HTTP/2 sessions with one address and one TLS identity. Requests share a session up to the number of streams that the
 * backend allows; another session is opened for those above it.
 */
export class UpstreamSessions implements UpstreamSource, SessionOwner {
  readonly listener: ResponseListener;
  readonly #address: PoolAddress;
  readonly #options: PoolOptions;
  readonly #sessions: UpstreamSession[] = [];
  /** Sockets that are connecting, and sessions whose backend has not sent its settings yet. */
  readonly #opening = new Set<Socket>();
  #waiting: Waiter[] = [];

  constructor(address: PoolAddress, options: PoolOptions, listener: ResponseListener) {
    this.listener = listener;
    this.#address = address;
    this.#options = options;
  }

  get open(): number {
    return this.#sessions.length + this.#opening.size;
  }

  get idle(): number {
    return this.#sessions.filter((session) => session.idle).length;
  }

  take(): UpstreamLink | null {
    for (const session of this.#sessions) if (session.capacity > 0) return session.reserve();
    return null;
  }

  giveBack(link: UpstreamLink): void {
    link.destroy();
  }

  connect(
    timeout: number,
    connected: (link: UpstreamLink) => void,
    failed: (error: ErrorEntry, cause: string) => void,
  ): void {
    const waiter: Waiter = { connected, failed, deadline: new Deadline(() => this.#timedOut(waiter)) };
    waiter.deadline.set(timeout, monotonic());
    this.#waiting.push(waiter);
    this.#openForAll();
  }

  close(): void {
    for (const session of [...this.#sessions]) if (session.idle) session.destroy();
    for (const socket of this.#opening) socket.destroy();
  }

  // SessionOwner

  ready(session: UpstreamSession): void {
    this.#opening.delete(session.socket);
    if (session.capacity === 0) {
      session.destroy();
      this.#failAll('the backend allows no streams');
      return;
    }
    this.#sessions.push(session);
    this.#serve();
    this.#openForAll();
  }

  freed(session: UpstreamSession): void {
    if (this.#waiting.length > 0) this.#serve();
    if (this.#options.size === 0 && session.idle) session.destroy();
  }

  closed(session: UpstreamSession): void {
    const at = this.#sessions.indexOf(session);
    if (at >= 0) this.#sessions.splice(at, 1);
    if (this.#waiting.length > 0) this.#openForAll();
  }

  #openForAll(): void {
    while (this.#opening.size * expectedStreams < this.#waiting.length && this.open < maxSessions) this.#openOne();
  }

  #openOne(): void {
    let session: UpstreamSession | null = null;
    let cause = 'connection closed';
    const { tls } = this.#address;
    const { open } = this.#options;
    const begin = (): UpstreamSession => {
      session = new UpstreamSession(socket, tls === null ? 'http' : 'https', this.#options, this);
      return session;
    };
    const socket =
      open !== undefined
        ? open(this.#address, 'h2')
        : tls === null
          ? this.#openPlain(() => session)
          : openTls(this.#address, tls, 'h2');
    if (open !== undefined) socket.once('connect', () => ownSocket(socket, begin()));
    else if (tls === null) socket.once('connect', begin);
    else
      socket.once('secureConnect', () => {
        const problem = protocolProblem(socket as TLSSocket);
        if (problem === null) {
          adoptTlsSocket(socket, begin);
          return;
        }
        cause = problem;
        socket.destroy();
      });
    this.#opening.add(socket);
    socket.on('error', (error) => {
      cause = connectCause(error);
    });
    socket.on('close', () => {
      if (!this.#opening.delete(socket)) return;
      if (session !== null && cause === 'connection closed') cause = 'the backend does not speak HTTP/2';
      this.#failAll(cause);
    });
  }

  #openPlain(session: () => UpstreamSession | null): Socket {
    const { ip, port } = this.#address;
    const onread = {
      buffer: sharedReadBuffer,
      callback: (length: number, bytes: Uint8Array): boolean => session()?.received(bytes, length) ?? true,
    };
    const socket = connectTcp({ host: ip, port, noDelay: true, allowHalfOpen: true, onread });
    socket.on('end', () => session()?.ended());
    socket.on('drain', () => session()?.writable());
    socket.on('close', () => session()?.closed());
    return socket;
  }

  /** No session is left that could serve the waiting requests. */
  #failAll(cause: string): void {
    if (this.#opening.size > 0 || this.#sessions.some((session) => !session.draining)) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const waiter of waiting) {
      waiter.deadline.clear();
      waiter.failed(errors.connectFailed, cause);
    }
  }

  #serve(): void {
    while (this.#waiting.length > 0) {
      const link = this.take();
      if (link === null) return;
      const waiter = this.#waiting.shift() as Waiter;
      waiter.deadline.clear();
      waiter.connected(link);
    }
  }

  #timedOut(waiter: Waiter): void {
    this.#waiting = this.#waiting.filter((other) => other !== waiter);
    // The next request tries again, instead of waiting for a connection that does not answer.
    if (this.#waiting.length === 0) for (const socket of this.#opening) socket.destroy();
    waiter.failed(errors.connectTimeout, 'connect timeout');
  }
}

function protocolProblem({ alpnProtocol }: TLSSocket): string | null {
  return alpnProtocol === 'h2' ? null : 'the backend does not speak HTTP/2 over TLS';
}
