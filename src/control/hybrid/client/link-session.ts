import { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ConnectionOptions, PeerCertificate } from 'node:tls';
import { type ClientOptions, WebSocket } from 'ws';
import { splitHostPort } from '../../../shared/util/net/host-port.ts';
import { awaitWithTimeout } from '../../../shared/util/time/await-with-timeout.ts';
import { StoreError } from '../../store/store.ts';
import type { HybridNode, HybridSettings, HybridTimes } from '../contract.ts';
import { MalformedMessage } from '../protocol/check-values.ts';
import { watchHeartbeat } from '../protocol/heartbeat.ts';
import { type LinkTls, nameProblem, serverNameOf } from '../protocol/link-tls.ts';
import { PartJoiner } from '../protocol/message-parts.ts';
import {
  closeCodes,
  features,
  linkPath,
  type Peer,
  protocolRange,
  type ToControlPlane,
  type ToDataPlane,
} from '../protocol/messages.ts';
import { readFromControlPlane } from '../protocol/read-message.ts';
import { fromWireError, unavailable } from '../protocol/wire-errors.ts';
import type { ReceivedConfig } from './received-config.ts';

export interface LinkSessionOptions {
  readonly node: HybridNode;
  readonly settings: HybridSettings;
  readonly tls: LinkTls;
  readonly times: HybridTimes;
  readonly config: ReceivedConfig;
}

/** The connection was lost before the answer: whether the call took effect is unknown. */
export class LinkLost extends StoreError {}

/** The control plane does not accept this data plane now. */
export class LinkRefused extends Error {
  /** Milliseconds after which another attempt is welcome; null: the reason has to be gone first. */
  readonly retryAfter: number | null;

  constructor(message: string, retryAfter: number | null) {
    super(message);
    this.retryAfter = retryAfter;
  }
}

interface PendingCall {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** Maximum calls without an answer: the rest fails at once, as with a pool of database connections that is used up. */
const maxCalls = 4096;
/** Milliseconds for the calls of a connection that is left. */
const retireTime = 3000;

/** TLS 1.3 knows no answer to a certificate that came last, so the control plane only closes the connection. */
const notAccepted =
  'it has closed the connection before an answer; perhaps it does not accept the certificate of this node, which its log would say';

/** One connection to a control plane. */
export class LinkSession {
  readonly address: string;
  /** Resolves with the reason when the connection is closed. */
  readonly closed: Promise<string>;
  /** Resolves with the milliseconds in which the data plane has to leave this control plane; never, if it can stay. */
  readonly leaving: Promise<number>;
  peer: Peer | null = null;
  /** Difference between the clock of the control plane and the own one, in milliseconds. */
  clockOffset = 0;
  readonly #options: LinkSessionOptions;
  readonly #socket: WebSocket;
  readonly #calls = new Map<number, PendingCall>();
  readonly #parts = new PartJoiner();
  readonly #onLeave: (within: number) => void;
  #nextId = 0;
  #reason = '';
  #welcomed: ((error: Error | null) => void) | null = null;
  #onIdle = (): void => {};
  /** Number of this connection in the received config; -1: none yet. */
  #connection = -1;

  private constructor(address: string, options: LinkSessionOptions) {
    this.address = address;
    this.#options = options;
    const { settings, times } = options;
    this.#socket = new WebSocket(`wss://${address}${linkPath}`, {
      ...connectionTls(address, options),
      handshakeTimeout: settings.timeout,
      maxPayload: settings.maxPayload,
      perMessageDeflate: false,
      followRedirects: false,
    });
    const closed = Promise.withResolvers<string>();
    const leaving = Promise.withResolvers<number>();
    this.closed = closed.promise;
    this.leaving = leaving.promise;
    this.#onLeave = leaving.resolve;
    this.#socket.on('message', (data, isBinary) => this.#received(String(data), isBinary));
    this.#socket.on('error', (error) => {
      this.#reason ||= this.#connection < 0 && isReset(error) ? notAccepted : error.message;
    });
    this.#socket.once('close', (code, text) => {
      this.#reason ||= text.length > 0 ? String(text) : `the connection was closed (${code})`;
      this.#fail();
      closed.resolve(this.#reason);
    });
    watchHeartbeat(this.#socket, {
      interval: times.pingInterval,
      silence: times.silence,
      onSilence: () => {
        this.#reason = 'nothing was heard from the control plane';
      },
    });
    this.#socket.on('pong', () => options.config.heard(this.#connection));
  }

  /** Resolves when the control plane has accepted this data plane. Rejects with an `Error` of one line. */
  static async open(address: string, options: LinkSessionOptions): Promise<LinkSession> {
    const session = new LinkSession(address, options);
    try {
      await session.#introduce();
      return session;
    } catch (error) {
      session.#socket.terminate();
      throw error;
    }
  }

  /** Rejects with a `StoreError`, or the `TypeError` of the control plane. */
  call(method: string, args: unknown): Promise<unknown> {
    if (this.#socket.readyState !== WebSocket.OPEN) return Promise.reject(this.#lost());
    if (this.#calls.size >= maxCalls) return Promise.reject(unavailable('too many calls wait for the control plane'));
    const { settings } = this.#options;
    const id = this.#nextId++;
    const json = encode({ t: 'call', id, method, args });
    if (json.length * 3 > settings.maxPayload && Buffer.byteLength(json) > settings.maxPayload) {
      return Promise.reject(new TypeError(`the call ${method} is larger than cluster_max_payload`));
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#calls.delete(id);
        reject(unavailable(`the control plane ${this.address} does not answer`));
      }, settings.timeout);
      this.#calls.set(id, { resolve, reject, timer });
      this.#socket.send(json);
    });
  }

  send(message: ToControlPlane): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(encode(message));
  }

  /** Closes the connection once its calls are answered, soon in any case. */
  async retire(): Promise<void> {
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      if (this.#calls.size === 0) resolve();
    });
    await Promise.race([awaitWithTimeout(idle, retireTime), this.closed]);
    this.close();
  }

  close(): void {
    this.#reason ||= 'this node has closed the connection';
    this.#socket.close(1000);
    setTimeout(() => this.#socket.terminate(), 1000).unref();
  }

  #introduce(): Promise<void> {
    const { settings, node, config } = this.#options;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => finish(new Error('the control plane does not answer')), settings.timeout);
      const finish = (error: Error | null): void => {
        clearTimeout(timer);
        this.#welcomed = null;
        if (error === null) resolve();
        else reject(error);
      };
      this.#welcomed = finish;
      this.#socket.once('unexpected-response', (_request, response: IncomingMessage) => {
        response.resume();
        const busy = response.statusCode === 503;
        const after = Number(response.headers['retry-after']);
        const message = busy ? 'the control plane is busy' : `it answers with status ${response.statusCode}`;
        finish(new LinkRefused(message, busy && after >= 0 && after <= 3600 ? after * 1000 : null));
      });
      this.#socket.once('open', () => {
        const { nodeId: id, hostname, version } = node;
        const { connection, position } = config.begin();
        this.#connection = connection;
        this.send({
          t: 'hello',
          protocol: protocolRange,
          features,
          node: { id, hostname, version },
          labels: settings.labels,
          position,
        });
      });
    });
  }

  #received(json: string, isBinary: boolean): void {
    try {
      if (isBinary) throw new MalformedMessage('the message is not a text');
      const message = readFromControlPlane(json);
      if (message !== null) this.#take(message);
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error;
      this.#reason = `the control plane has sent what cannot be understood: ${error.message}`;
      this.#socket.close(closeCodes.malformed);
      this.#socket.terminate();
    }
  }

  #take(message: ToDataPlane): void {
    switch (message.t) {
      case 'welcome':
        this.peer = message.node;
        this.clockOffset = message.now - Date.now();
        this.#welcomed?.(null);
        return;
      case 'refused':
        this.#reason = message.reason;
        this.#welcomed?.(new LinkRefused(message.reason, message.retryAfter));
        return;
      case 'leave':
        this.#onLeave(message.within);
        return;
      case 'part': {
        const whole = this.#parts.add(message.text, message.last);
        if (whole !== null) this.#received(whole, false);
        return;
      }
      case 'result':
        this.#settle(message.id)?.resolve(message.value);
        return;
      case 'failure':
        this.#settle(message.id)?.reject(fromWireError(message.error));
        return;
      default:
        this.#options.config.take(message, this.#connection);
    }
  }

  #settle(id: number): PendingCall | undefined {
    const call = this.#calls.get(id);
    if (call === undefined) return undefined;
    this.#calls.delete(id);
    clearTimeout(call.timer);
    if (this.#calls.size === 0) this.#onIdle();
    return call;
  }

  #fail(): void {
    this.#options.config.disconnected(this.#connection);
    this.#welcomed?.(new Error(this.#reason));
    for (const id of [...this.#calls.keys()]) this.#settle(id)?.reject(this.#lost());
  }

  #lost(): LinkLost {
    return new LinkLost(
      { kind: 'unavailable' },
      { message: `the connection to the control plane ${this.address} was lost` },
    );
  }
}

function isReset(error: Error): boolean {
  return 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}

function encode(message: ToControlPlane): string {
  return JSON.stringify(message);
}

/** The types of `ws` have another signature of `checkServerIdentity`; it passes the function to Node. */
function connectionTls(address: string, { tls }: LinkSessionOptions): ClientOptions {
  const name = tls.nameFor(hostOf(address));
  const options: ConnectionOptions = {
    ...tls.context,
    // Empty: no SNI.
    servername: serverNameOf(name) ?? '',
    // Called after the certificate was verified against the authorities.
    checkServerIdentity(_host: string, peer: PeerCertificate): Error | undefined {
      const certificate = new X509Certificate(peer.raw);
      const problem = tls.problemOf(certificate, true);
      if (problem !== null) return new Error(`the control plane is not trusted: ${problem}`);
      return name === null ? undefined : nameProblem(name, certificate);
    },
  };
  return options as unknown as ClientOptions;
}

function hostOf(address: string): string {
  return splitHostPort(address).host;
}
