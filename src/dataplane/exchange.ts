import type { RequestHead } from '../http1/request-head.ts';
import type { PluginPlan } from '../plugin-runner/plan.ts';
import type { ConsumerView, CredentialView } from '../plugin-sdk/contexts.ts';
import type { RuntimeRoute, RuntimeService, RuntimeSnapshot, RuntimeTarget } from '../snapshot/runtime.ts';
import type { HeaderEdits } from './header-edits.ts';
import type { RequestContext } from './request-context.ts';

/** What is the same for all requests of one client connection. */
export interface DownstreamPeer {
  readonly peerIp: string;
  readonly peerPort: number;
  readonly localIp: string;
  /** Port of the listener, after `port_maps`. */
  readonly localPort: number;
  readonly scheme: 'http' | 'https';
  /** TLS server name; '' without TLS. */
  readonly sni: string;
  /** The peer is one of `trusted_ips`: its forwarding headers are believed. */
  readonly trusted: boolean;
  /** Number of this connection in its worker. */
  readonly serial: number;
  /** Requests begun on this connection. */
  requests: number;
}

/** Who answered: the backend, or the gateway (its core or a plugin). */
export type ResponseSource = 'upstream' | 'gateway';

/** One request and its answer, from the first byte in to the last byte out. Fields only; the same shape for both engines. */
export class Exchange {
  readonly peer: DownstreamPeer;
  readonly head: RequestHead;
  readonly snapshot: RuntimeSnapshot;
  /** 32 hexadecimal digits. */
  readonly id: string;
  /** Milliseconds since the epoch, and on the monotonic clock. */
  readonly startedAt: number;
  readonly startedMono: number;
  /** The normalised path; '' until it is known. */
  path = '';
  /** Client address after real-ip rules; scheme, host and port as forwarded by a trusted peer. */
  clientIp: string;
  clientScheme: 'http' | 'https';
  /** Filled by the router (RouteMatch). */
  route: RuntimeRoute | null = null;
  matchedPath = '';
  captures: RegExpExecArray | null = null;
  service: RuntimeService | null = null;
  plan: PluginPlan;
  /** Made when the first plugin runs. */
  context: RequestContext | null = null;
  consumer: ConsumerView | null = null;
  credential: CredentialView | null = null;
  /** What plugins changed for the backend. */
  requestEdits: HeaderEdits | null = null;
  upstreamMethod: string | null = null;
  upstreamPath: string | null = null;
  upstreamQuery: string | null = null;
  /** Request body, when a plugin asked for it. */
  requestBody: Uint8Array | null = null;
  /** Request target as sent to the backend (path and query); '' when none was contacted. */
  upstreamUri = '';
  target: RuntimeTarget | null = null;
  /** Attempts made at a backend. */
  tries = 0;
  /** The answer: status, validated header block of the backend or the gateway, and what plugins changed of it. */
  status = 0;
  responseSource: ResponseSource = 'gateway';
  responseBlock = '';
  responseEdits: HeaderEdits | null = null;
  upstreamStatus = 0;
  /** Monotonic clock: when the backend was first asked, when its first byte came. 0: never. */
  upstreamStartedMono = 0;
  firstByteMono = 0;
  /** Bytes of bodies; heads are counted by the connection. */
  bytesReceived = 0;
  bytesSent = 0;
  /** The client went away before the answer was complete. */
  clientAborted = false;
  /** Set when the answer has begun: it can no longer be replaced. */
  headSent = false;
  finished = false;

  constructor(peer: DownstreamPeer, head: RequestHead, snapshot: RuntimeSnapshot, id: string, startedAt: number, startedMono: number) {
    this.peer = peer;
    this.head = head;
    this.snapshot = snapshot;
    this.id = id;
    this.startedAt = startedAt;
    this.startedMono = startedMono;
    this.clientIp = peer.peerIp;
    this.clientScheme = peer.scheme;
    this.plan = snapshot.globalPlan;
  }
}
