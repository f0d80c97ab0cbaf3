import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { plainIp } from '../listener/remote-end.ts';
import type { ListenAddress } from '../settings/settings.ts';
import { Session } from './session.ts';
import type { StreamParts } from './stream-parts.ts';
import { UdpSession } from './udp-session.ts';

/** Sessions of one listener in one worker. Each has a socket: when there are more, the one that was quiet longest ends. */
const mostSessions = 4_096;
/** Bytes that the system has not taken yet, above which answers are dropped. */
const mostQueued = 4 << 20;

export interface UdpListenerOptions {
  readonly parts: StreamParts;
  readonly address: ListenAddress;
  readonly reusePort: boolean;
  readonly began: (session: UdpSession) => void;
  readonly ended: (session: UdpSession, facts: Session) => void;
}

/**
 * Takes datagrams on one address. Workers share it, and the system gives all datagrams of one client to the same worker. The
 * address that a datagram was sent to is not told, so `destinations` are compared with the listener's own.
 */
export class UdpListener {
  readonly #options: UdpListenerOptions;
  readonly #socket: Socket;
  /** By address and port of the client, the quietest first. */
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
    const { ip, port } = this.#options.address;
    return new Promise((resolve, reject) => {
      this.#socket.once('error', (error) => reject(new Error(`cannot listen on ${ip}:${port}: ${error.message}`)));
      this.#socket.bind({ address: ip, port, exclusive: true }, () => {
        // What cannot be sent is lost, as any datagram may be.
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
    if (this.#sessions.size >= mostSessions) this.#sessions.values().next().value?.destroy();
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
    if (this.#socket.getSendQueueSize() < mostQueued) this.#socket.send(datagram, to.port, to.address, ignore);
  }

  /** Takes no new clients; those that are there go on until they are quiet. */
  drain(): void {
    this.#draining = true;
    for (const session of this.#sessions.values()) session.drain();
  }

  /** To be called when all sessions are over. */
  close(): void {
    this.#socket.close();
  }
}

function ignore(): void {}
