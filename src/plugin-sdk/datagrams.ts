import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns';
import { isIP } from 'node:net';
import { OutageLog } from '../util/outage-log.ts';
import type { PluginLogger } from './define-plugin.ts';

export interface DatagramOptions {
  /** Name or address. */
  readonly host: string;
  readonly port: number;
  readonly log: PluginLogger;
  /** `tools.count`: `datagrams_dropped`, `datagrams_too_large`, `send_failures`. */
  readonly count: (name: string, by?: number) => void;
}

/** One receiver of datagrams. What is lost on the way to it, UDP does not tell. */
export interface Datagrams {
  /** Sends one datagram, a text as UTF-8. Returns at once and never throws; what cannot be sent is counted. */
  send(datagram: string | Uint8Array): void;
  /** Resolves when all that was taken has been given to the system or dropped, at the latest after two seconds. */
  drain(): Promise<void>;
  /** Nothing is taken any more; what was taken before is still sent, as with `drain`. */
  close(): void;
}

/** Most bytes that fit in a datagram over IPv4: 65,535 without the heads of IP and UDP (RFC 768, RFC 791). */
export const longestDatagram = 65_507;

/** What is kept while the name is looked up for the first time. */
const mostKept = 1_000;
const mostKeptBytes = 1 << 20;
/** Bytes that the system has not taken yet, above which datagrams are dropped. */
const mostQueued = 1 << 20;
/** Milliseconds after which a name is looked up anew, and after which it is when it was not found or nobody was there. */
const addressLife = 60_000;
const retryPause = 5_000;
const drainTime = 2_000;
/** Milliseconds without a failure after which an outage is over: little traffic fails seldom. */
const quietTime = 60_000;

/**
 * Opens the way to a receiver; the socket and the look-up of its name come with the first datagram. An address that can no longer be
 * looked up goes on being used. Of a name with both kinds of addresses IPv4 is used.
 */
export function openDatagrams(options: DatagramOptions): Datagrams {
  return new DatagramSender(options);
}

class DatagramSender implements Datagrams {
  readonly #options: DatagramOptions;
  readonly #host: string;
  readonly #outage: OutageLog;
  /** Connected to `#address`; null: no address is known yet. */
  #socket: Socket | null = null;
  #address = '';
  #lookUpAt = 0;
  #lookingUp = false;
  #kept: (string | Uint8Array)[] = [];
  #keptBytes = 0;
  #closed = false;
  #ended = false;
  #idle: (() => void)[] = [];
  /** Sends that the system has not confirmed. */
  #underWay = 0;

  constructor(options: DatagramOptions) {
    this.#options = options;
    const { host, port, log } = options;
    // As URLs have addresses of IPv6.
    this.#host = host.replace(/^\[(.*)\]$/, '$1');
    this.#outage = new OutageLog(log, 'datagrams cannot be sent', { quietTime, fields: { host, port } });
  }

  send(datagram: string | Uint8Array): void {
    const size = typeof datagram === 'string' ? Buffer.byteLength(datagram) : datagram.byteLength;
    if (this.#closed) this.#options.count('datagrams_dropped');
    else if (size > longestDatagram) this.#options.count('datagrams_too_large');
    else if (this.#socket === null) this.#keep(datagram, size);
    else this.#give(this.#socket, datagram);
    if (!this.#closed && performance.now() >= this.#lookUpAt) this.#lookUp();
  }

  #give(socket: Socket, datagram: string | Uint8Array): void {
    if (socket.getSendQueueSize() > mostQueued) {
      this.#options.count('datagrams_dropped');
      return;
    }
    this.#underWay++;
    try {
      socket.send(datagram, this.#sent);
    } catch (error) {
      this.#sent(error instanceof Error ? error : new Error(String(error)));
    }
  }

  readonly #sent = (error: Error | null): void => {
    this.#underWay--;
    if (error !== null) this.#failed(error);
    this.#settle();
  };

  #failed(error: Error): void {
    this.#options.count('send_failures');
    this.#outage.failed(error);
    // The name may stand for another machine by now.
    if (isIP(this.#host) === 0) this.#lookUpAt = Math.min(this.#lookUpAt, performance.now() + retryPause);
  }

  #keep(datagram: string | Uint8Array, size: number): void {
    if (this.#kept.length >= mostKept || this.#keptBytes + size > mostKeptBytes) {
      this.#options.count('datagrams_dropped');
      return;
    }
    // Bytes may be the caller's again when it gets here.
    this.#kept.push(typeof datagram === 'string' ? datagram : Uint8Array.from(datagram));
    this.#keptBytes += size;
  }

  #lookUp(): void {
    if (this.#lookingUp) return;
    const host = this.#host;
    this.#lookUpAt = Number.POSITIVE_INFINITY;
    if (isIP(host) !== 0) {
      this.#open(host, isIP(host));
      return;
    }
    this.#lookingUp = true;
    lookup(host, { order: 'ipv4first' }, (error, address, family) => {
      this.#lookingUp = false;
      this.#lookUpAt = performance.now() + (error === null ? addressLife : retryPause);
      if (error === null) this.#open(address, family);
      else this.#notFound(error);
    });
  }

  #notFound(error: Error): void {
    this.#outage.failed(error);
    if (this.#socket === null) this.#drop();
    this.#settle();
  }

  #open(address: string, family: number): void {
    if (address === this.#address) return;
    const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
    socket.unref();
    // The receiver's machine says that nobody is there.
    socket.on('error', (error) => this.#failed(error));
    try {
      // It may be called with an error, which its type does not say.
      socket.connect(this.#options.port, address, (error?: Error | null) => {
        if (error === undefined || error === null) this.#opened(socket, address);
        else this.#unreachable(socket, error);
      });
    } catch (error) {
      this.#unreachable(socket, error instanceof Error ? error : new Error(String(error)));
    }
  }

  #opened(socket: Socket, address: string): void {
    if (this.#ended) {
      socket.close();
      return;
    }
    this.#socket?.close();
    this.#socket = socket;
    this.#address = address;
    for (const datagram of this.#takeKept()) this.#give(socket, datagram);
    this.#settle();
  }

  /** There is no way to the address: of a family that this machine does not have. */
  #unreachable(socket: Socket, error: Error): void {
    socket.close();
    this.#failed(error);
    this.#lookUpAt = performance.now() + retryPause;
    if (this.#socket === null) this.#drop();
    this.#settle();
  }

  #takeKept(): readonly (string | Uint8Array)[] {
    const kept = this.#kept;
    this.#kept = [];
    this.#keptBytes = 0;
    return kept;
  }

  #drop(): void {
    const { length } = this.#takeKept();
    if (length > 0) this.#options.count('datagrams_dropped', length);
  }

  drain(): Promise<void> {
    if (this.#kept.length === 0 && this.#underWay === 0) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, drainTime);
    this.#idle.push(() => {
      clearTimeout(timer);
      resolve();
    });
    return promise;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    void this.drain().then(() => {
      this.#ended = true;
      this.#drop();
      this.#socket?.close();
      this.#socket = null;
    });
  }

  #settle(): void {
    if (this.#kept.length > 0 || this.#underWay > 0) return;
    for (const idle of this.#idle.splice(0)) idle();
  }
}
