import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { throttledLog } from '../../../shared/util/time/throttled-log.ts';
import type { PublisherLog } from '../../publish/publisher-options.ts';

/** Milliseconds between two lines of one kind. */
const interval = 10_000;
const neverSpoke = 'it has ended before a request: it may not accept the certificate of this control plane';
/** Characters of the subject of a certificate. */
const maxSubject = 200;

interface Refused {
  readonly reason: string;
  readonly ip: string | null;
  /** Of its certificate; null: it has shown none. */
  readonly subject: string | null;
}

/**
 * Logs connections that become no data plane. Each kind of reason has its own interval: many connections that fail for one must not
 * hide another.
 */
export class RefusalLog {
  readonly #log: PublisherLog;
  readonly #kinds = new Map<string, (refused: Refused) => void>();
  /** Of TCP connections: one that has ended no longer knows its address. */
  readonly #addresses = new WeakMap<object, string>();
  /** Connections with a request. */
  readonly #spoken = new WeakSet<Duplex>();
  #closed = false;

  constructor(log: PublisherLog) {
    this.#log = log;
  }

  /** Logs what fails in the handshake. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#addresses.set(socket, socket.remoteAddress ?? ''));
    server.on('tlsClientError', (error, socket) => {
      const hungUp = 'code' in error && error.code === 'ECONNRESET';
      if (hungUp) this.refused(neverSpoke, socket);
      else this.refused(error.message, socket, 'TLS');
      socket.destroy();
    });
  }

  /** A connection with an accepted certificate: logs when it ends before `spoke`. */
  admitted(socket: TLSSocket): void {
    socket.once('close', () => {
      if (!this.#spoken.has(socket)) this.refused(neverSpoke, socket);
    });
  }

  spoke(socket: Duplex): void {
    this.#spoken.add(socket);
  }

  /** `kind`: of the reason, one of a few. */
  refused(reason: string, socket: TLSSocket, kind = reason): void {
    if (this.#closed) return;
    let report = this.#kinds.get(kind);
    if (report === undefined) {
      report = throttledLog<Refused>(interval, (refused, suppressed) => {
        this.#log.log('warn', 'a connection to the port of data planes was refused', { ...refused, suppressed });
      });
      this.#kinds.set(kind, report);
    }
    const subject = socket.getPeerX509Certificate()?.subject.replaceAll('\n', ', ').slice(0, maxSubject) ?? null;
    report({ reason, ip: this.#addressOf(socket), subject });
  }

  /** From now on connections end because the control plane does. */
  close(): void {
    this.#closed = true;
  }

  #addressOf(socket: TLSSocket): string | null {
    const { _parent: connection } = socket as unknown as { readonly _parent?: Socket };
    return (connection === undefined ? undefined : this.#addresses.get(connection)) ?? socket.remoteAddress ?? null;
  }
}
