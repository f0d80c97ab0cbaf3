import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns';
import { isIP } from 'node:net';
import type { PluginLogger } from '../../plugin-sdk/tools.ts';
import { OutageLog } from '../../shared/util/time/outage-log.ts';

export interface DatagramOptions {
  /** Name or address. */
  readonly host: string;
  readonly port: number;
  readonly log: PluginLogger;
  /** `tools.count`. Counts `datagrams_dropped`, `datagrams_too_large` and `send_failures`. */
  readonly count: (name: string, by?: number) => void;
}

/** Sends datagrams to one receiver. UDP does not report what is lost on the way. */
export interface Datagrams {
  /** Sends one datagram, a text as UTF-8. Returns at once and never throws; datagrams that cannot be sent are counted. */
  send(datagram: string | Uint8Array): void;
  /** Resolves once all datagrams are sent or dropped, at most after two seconds. */
  drain(): Promise<void>;
  /** Datagrams from now on are dropped; earlier ones are still sent, as by `drain`. */
  close(): void;
}

/** Maximum bytes of a datagram over IPv4: 65,535 less the headers of IP and UDP (RFC 768, RFC 791). */
export const maxDatagramSize = 65_507;

/** Datagrams that are kept during the first lookup of the name. */
const maxKept = 1_000;
const maxKeptBytes = 1 << 20;
/** Unsent bytes in the socket above which datagrams are dropped. */
const maxQueued = 1 << 20;
/** Milliseconds after which a name is resolved again; the second one applies after a failure. */
const addressLife = 60_000;
const retryPause = 5_000;
const drainTime = 2_000;
/** Milliseconds without a failure after which an outage is over: with little traffic, failures are rare. */
const quietTime = 60_000;

/**
 * Opens a sender. The socket is opened and the name resolved with the first datagram. When the name no longer resolves, its last
 * address stays in use. IPv4 is preferred.
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
    // IPv6 addresses in brackets, as in URLs.
    this.#host = host.replace(/^\[(.*)\]$/, '$1');
    this.#outage = new OutageLog(log, 'datagrams cannot be sent', { quietTime, fields: { host, port } });
  }

  send(datagram: string | Uint8Array): void {
    const size = typeof datagram === 'string' ? Buffer.byteLength(datagram) : datagram.byteLength;
    if (this.#closed) this.#options.count('datagrams_dropped');
    else if (size > maxDatagramSize) this.#options.count('datagrams_too_large');
    else if (this.#socket === null) this.#keep(datagram, size);
    else this.#give(this.#socket, datagram);
    if (!this.#closed && performance.now() >= this.#lookUpAt) this.#lookUp();
  }

  #give(socket: Socket, datagram: string | Uint8Array): void {
    if (socket.getSendQueueSize() > maxQueued) {
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
    // The name may have another address by now.
    if (isIP(this.#host) === 0) this.#lookUpAt = Math.min(this.#lookUpAt, performance.now() + retryPause);
  }

  #keep(datagram: string | Uint8Array, size: number): void {
    if (this.#kept.length >= maxKept || this.#keptBytes + size > maxKeptBytes) {
      this.#options.count('datagrams_dropped');
      return;
    }
    // The caller may reuse the bytes after `send` returns.
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
    // The host of the receiver reports that nothing listens on the port.
    socket.on('error', (error) => this.#failed(error));
    try {
      // The callback may get an error, although its type does not declare one.
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

  /** No route to the address: this machine does not have its address family. */
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
