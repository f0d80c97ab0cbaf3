import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RawData, WebSocket } from 'ws';
import { type FairQueue, overloaded } from '../../../shared/util/time/fair-queue.ts';
import type { PublisherLog } from '../../publish/publisher-options.ts';
import type { ConnectedDataPlane, HybridNode } from '../contract.ts';
import { MalformedMessage } from '../protocol/check-values.ts';
import { commonVersion, describeRange } from '../protocol/common-version.ts';
import { watchHeartbeat } from '../protocol/heartbeat.ts';
import { messageParts } from '../protocol/message-parts.ts';
import { closeCodes, features, protocolRange, type ToControlPlane, type ToDataPlane } from '../protocol/messages.ts';
import { readFromDataPlane } from '../protocol/read-message.ts';
import { toWireError, unavailable } from '../protocol/wire-errors.ts';
import { answerText } from './answer-text.ts';
import type { ConfigFeed } from './config-feed.ts';
import { ConfigStream } from './config-stream.ts';
import type { PlaceHolder } from './fair-places.ts';
import type { HeldBytes } from './held-bytes.ts';
import { OutgoingMessages } from './outgoing-messages.ts';
import type { StoreCallHandler } from './store-call-handler.ts';

export interface SessionOptions {
  readonly node: HybridNode;
  readonly feed: ConfigFeed;
  readonly calls: StoreCallHandler;
  /** Of all data planes; each has its turn. */
  readonly queue: FairQueue;
  /** Of all data planes. */
  readonly held: HeldBytes;
  readonly maxPayload: number;
  /** Milliseconds for the first message and for a call. */
  readonly timeout: number;
  readonly pingInterval: number;
  readonly silence: number;
  readonly log: PublisherLog;
}

export interface SessionPeer {
  /** Unique among the connections of this control plane. */
  readonly connection: number;
  readonly ip: string;
  /** Milliseconds since the epoch. */
  readonly certificateExpiry: number;
}

/** Unanswered calls above which nothing more is read. A data plane has fewer, unless it is hostile. */
const maxCalls = 8192;
/** Bytes of unanswered calls above which nothing more is read. */
const maxCallBytes = 4 * 1024 * 1024;

type Hello = Extract<ToControlPlane, { readonly t: 'hello' }>;
type Call = Extract<ToControlPlane, { readonly t: 'call' }>;

/** The connection of one data plane. */
export class DataPlaneSession implements PlaceHolder {
  readonly #options: SessionOptions;
  readonly #peer: SessionPeer;
  readonly #socket: WebSocket;
  readonly #outgoing: OutgoingMessages;
  readonly #connectedAt = Date.now();
  #hello: Hello | null = null;
  #stream: ConfigStream | null = null;
  #seenAt = Date.now();
  #configVersion = -1;
  #refused: string | null = null;
  #calls = 0;
  #callBytes = 0;
  /** Of a message that has not arrived completely. */
  #partialBytes = 0;
  #gone = false;
  /** Why the connection ends, for the log. */
  #reason = 'the data plane has closed the connection';

  constructor(socket: WebSocket, peer: SessionPeer, options: SessionOptions) {
    this.#options = options;
    this.#peer = peer;
    this.#socket = socket;
    const { timeout, pingInterval: interval, silence } = options;
    this.#outgoing = new OutgoingMessages(socket, {
      // Another ping may have been answered in between: what is sent must arrive, too.
      stall: 2 * silence,
      onFailure: (reason) => this.#drop(reason),
    });
    const hurry = setTimeout(() => this.#end(closeCodes.slow, 'it has not introduced itself in time'), timeout);
    socket.on('message', (data, isBinary) => {
      this.#complete(sizeOf(data));
      this.#received(data, isBinary);
      if (this.#hello !== null) clearTimeout(hurry);
    });
    socket.on('ping', (data) => this.#complete(data.length));
    socket.on('pong', (data) => {
      this.#complete(data.length);
      this.#seenAt = Date.now();
    });
    socket.on('error', (error) => {
      this.#reason = error.message;
    });
    socket.once('close', () => {
      clearTimeout(hurry);
      this.#closed();
    });
    watchHeartbeat(socket, {
      interval,
      silence,
      onSilence: () => {
        this.#reason = 'nothing was heard from it';
      },
    });
  }

  get ip(): string {
    return this.#peer.ip;
  }

  /** So many bytes have arrived on the connection. */
  arrived(bytes: number): void {
    this.#partialBytes += bytes;
    this.#hold();
  }

  yield(): void {
    this.#end(closeCodes.left, 'data planes of other addresses need its place');
  }

  drop(): void {
    this.#drop('its messages need too much memory');
  }

  /** Null: it has not introduced itself. */
  describe(): ConnectedDataPlane | null {
    if (this.#hello === null) return null;
    const { node, labels } = this.#hello;
    return {
      ...node,
      ip: this.#peer.ip,
      labels,
      connectedAt: this.#connectedAt,
      seenAt: this.#seenAt,
      configVersion: this.#configVersion,
      certificateExpiry: this.#peer.certificateExpiry,
      refused: this.#refused,
    };
  }

  /** Asks it to connect elsewhere within so many milliseconds. Until then it is served. */
  leave(within: number): void {
    this.#send({ t: 'leave', within });
  }

  close(): void {
    this.#end(closeCodes.left, 'this control plane stops');
  }

  #received(data: RawData, isBinary: boolean): void {
    this.#seenAt = Date.now();
    if (this.#refused !== null) return;
    try {
      if (isBinary) throw new MalformedMessage('the message is not a text');
      const message = readFromDataPlane(String(data));
      if (message !== null) this.#take(message, sizeOf(data));
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error;
      this.#end(closeCodes.malformed, error.message);
    }
  }

  #take(message: ToControlPlane, bytes: number): void {
    if (message.t === 'hello') {
      if (this.#hello !== null) throw new MalformedMessage('it has introduced itself before');
      this.#welcome(message);
      return;
    }
    if (this.#hello === null) throw new MalformedMessage('the first message is not its introduction');
    if (message.t === 'call') void this.#answer(message, bytes);
    else if (message.t === 'synced') this.#configVersion = message.version;
    else this.#stream?.resend();
  }

  #welcome(hello: Hello): void {
    const { node, log, feed } = this.#options;
    // It could replace the report of this node.
    if (hello.node.id === node.nodeId) throw new MalformedMessage('node.id is that of this control plane');
    this.#hello = hello;
    const protocol = commonVersion(protocolRange, hello.protocol);
    const peer = { id: hello.node.id, hostname: hello.node.hostname, ip: this.#peer.ip, version: hello.node.version };
    if (protocol === null) {
      const reason =
        `the data plane speaks version ${describeRange(hello.protocol)} of the protocol, this control plane ` +
        `(${node.version}) version ${describeRange(protocolRange)}`;
      this.#refused = reason;
      log.log('error', 'a data plane is refused', { ...peer, reason });
      this.#send({ t: 'refused', reason, retryAfter: null });
      this.#end(closeCodes.refused, 'refused');
      return;
    }
    log.log('notice', 'a data plane has connected', peer);
    const { nodeId: id, hostname, version } = node;
    this.#send({ t: 'welcome', protocol, features, node: { id, hostname, version }, now: Date.now() });
    this.#stream = new ConfigStream(feed, this.#outgoing, hello.position);
  }

  async #answer({ id, method, args }: Call, bytes: number): Promise<void> {
    const { calls, queue } = this.#options;
    const node = this.#hello?.node.id ?? '';
    this.#calls++;
    this.#callBytes += bytes;
    this.#hold();
    if (this.#calls >= maxCalls || this.#callBytes >= maxCallBytes) this.#socket.pause();
    try {
      const value = await queue.run(`data plane ${this.#peer.connection}`, async () => {
        // SQLite answers synchronously: without this, all calls that wait would run in one turn of the event loop.
        await nextTurn();
        // Its answer would be dropped.
        if (!this.#outgoing.open) return null;
        return this.#inTime(calls.handle(method, args, node));
      });
      if (value === overloaded) throw unavailable('the control plane has too many calls of this data plane');
      this.#deliver(await answerText(id, value));
    } catch (error) {
      const known = toWireError(error);
      if (known === null) {
        this.#options.log.log('error', 'a call of a data plane failed', { id: node, call: method, err: error });
      }
      this.#send({
        t: 'failure',
        id,
        error: known ?? { kind: 'failed', message: 'the call failed in the control plane; see its log' },
      });
    } finally {
      this.#calls--;
      this.#callBytes -= bytes;
      this.#hold();
      if (this.#calls < maxCalls / 2 && this.#callBytes < maxCallBytes / 2 && this.#socket.isPaused) {
        this.#socket.resume();
      }
    }
  }

  /** A frame with so many bytes has arrived completely. Its header has 6 bytes or more, with the mask (RFC 6455, 5.2). */
  #complete(bytes: number): void {
    const header = bytes < 126 ? 6 : bytes < 65_536 ? 8 : 14;
    this.#partialBytes = Math.max(0, this.#partialBytes - bytes - header);
    this.#hold();
  }

  #hold(): void {
    this.#options.held.set(this, this.#gone ? 0 : this.#partialBytes + this.#callBytes);
  }

  #drop(reason: string): void {
    this.#reason = reason;
    this.#socket.terminate();
  }

  #inTime<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(unavailable('the store of the control plane does not answer')),
        this.#options.timeout,
      );
      work.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }

  #send(message: ToDataPlane): void {
    this.#deliver(JSON.stringify(message));
  }

  #deliver(json: string): void {
    for (const part of messageParts(json, this.#options.maxPayload)) this.#outgoing.send(part);
  }

  #end(code: number, reason: string): void {
    this.#reason = reason;
    // The text of a close frame has at most 123 bytes.
    this.#socket.close(code, reason.replace(/[^\x20-\x7e]/g, '?').slice(0, 120));
    // The other end need not answer the close frame.
    setTimeout(() => this.#socket.terminate(), 1000).unref();
  }

  #closed(): void {
    this.#stream?.close();
    this.#gone = true;
    this.#hold();
    if (this.#refused !== null) return;
    const { ip } = this.#peer;
    const who = this.#hello === null ? { ip } : { id: this.#hello.node.id, hostname: this.#hello.node.hostname, ip };
    this.#options.log.log(this.#hello === null ? 'warn' : 'notice', 'a data plane has disconnected', {
      ...who,
      reason: this.#reason,
    });
  }
}

function sizeOf(data: RawData): number {
  return Array.isArray(data) ? data.reduce((sum, { length }) => sum + length, 0) : data.byteLength;
}
