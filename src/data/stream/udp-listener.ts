import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { ListenAddress } from '../../shared/settings/settings.ts';
import { validDescriptor } from '../../shared/sockets/listening-sockets.ts';
import { plainIp } from '../../shared/util/net/plain-ip.ts';
import { Session } from './session.ts';
import type { StreamParts } from './stream-parts.ts';
import { UdpSession } from './udp-session.ts';

/**
 * Maximum sessions of one listener in one worker. Each has a socket. Above it, the least recently used session ends.
 */
const maxSessions = 4_096;
/** Bytes that the system has not accepted yet, above which responses are dropped. */
const maxQueued = 4 << 20;

export interface UdpListenerOptions {
  readonly parts: StreamParts;
  readonly address: ListenAddress;
  readonly reusePort: boolean;
  /** A descriptor of a socket that is bound to the address already; null: a new socket. */
  readonly descriptor: number | null;
  readonly began: (session: UdpSession) => void;
  readonly ended: (session: UdpSession, facts: Session) => void;
}

/**
 * Receives datagrams on one address. Workers share it, and the kernel sends all datagrams of one client to the same
 * worker. The destination address of a datagram is not available, so `destinations` are compared with the listener's
 * own.
 */
export class UdpListener {
  readonly #options: UdpListenerOptions;
  readonly #socket: Socket;
  /** By address and port of the client, the least recently used first. */
  readonly #sessions = new Map<string, UdpSession>();
  #draining = false;

  static async listen(options: UdpListenerOptions): Promise<UdpListener> {
    const listener = new UdpListener(options);
    await listener.#bind();
    return listener;
  }

  private constructor(options: UdpListenerOptions) {
    const { address, reusePort } = options;
    this.#options = options;
    const v6 = isIPv6(address.ip);
    this.#socket = createSocket({ type: v6 ? 'udp6' : 'udp4', reusePort, ipv6Only: v6 && address.ipv6only });
    this.#socket.on('message', (datagram: Buffer, from) => this.#received(datagram, from));
  }

  #bind(): Promise<void> {
    const { address, descriptor } = this.#options;
    const { ip, port } = address;
    const bound = descriptor === null ? { address: ip, port, exclusive: true } : { fd: descriptor };
    return new Promise((resolve, reject) => {
      this.#socket.once('error', (error) => reject(new Error(`cannot listen on ${ip}:${port}: ${error.message}`)));
      this.#socket.bind(bound, () => {
        // A datagram that cannot be sent is lost, as any datagram may be.
        this.#socket.on('error', () => {});
        resolve();
      });
    });
  }

  #received(datagram: Buffer, from: RemoteInfo): void {
    const key = `${from.address} ${from.port}`;
    const known = this.#sessions.get(key);
    if (known !== undefined) {
      this.#sessions.delete(key);
      this.#sessions.set(key, known);
      known.received(datagram);
      return;
    }
    if (!this.#draining) this.#begin(key, datagram, from);
  }

  #begin(key: string, datagram: Buffer, from: RemoteInfo): void {
    const { parts, address } = this.#options;
    if (this.#sessions.size >= maxSessions) this.#sessions.values().next().value?.destroy();
    const { port } = address;
    const client = { ip: plainIp(from.address), port: from.port };
    const facts = new Session('udp', client, address.ip, parts.settings.portMaps[port] ?? port);
    const session = new UdpSession({
      parts,
      session: facts,
      answer: (answer) => this.#answer(answer, from),
      done: () => {
        if (this.#sessions.get(key) === session) this.#sessions.delete(key);
        this.#options.ended(session, facts);
      },
    });
    this.#sessions.set(key, session);
    this.#options.began(session);
    session.begin();
    session.received(datagram);
  }

  #answer(datagram: Buffer, to: RemoteInfo): void {
    if (this.#socket.getSendQueueSize() < maxQueued) this.#socket.send(datagram, to.port, to.address, ignore);
  }

  /** Null: not available. */
  get descriptor(): number | null {
    return validDescriptor(handleOf(this.#socket)?.fd);
  }

  /**
   * Another process receives from the same socket: this one only sends the answers of its sessions. Without this, it would take
   * datagrams of clients that it does not serve any more.
   */
  stopReceiving(): void {
    handleOf(this.#socket)?.recvStop?.();
  }

  /** Accepts no new clients; open sessions continue until they are idle. */
  drain(): void {
    this.#draining = true;
    for (const session of this.#sessions.values()) session.drain();
  }

  /** Call this when all sessions are over. */
  close(): void {
    this.#socket.close();
  }
}

interface UdpHandle {
  readonly fd?: number;
  recvStop?(): void;
}

/** `dgram` has no method for either; it keeps its handle under a symbol. */
function handleOf(socket: Socket): UdpHandle | null {
  const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'state symbol');
  if (symbol === undefined) return null;
  return (
    (socket as unknown as Record<symbol, { readonly handle?: UdpHandle | null } | undefined>)[symbol]?.handle ?? null
  );
}

function ignore(): void {}
