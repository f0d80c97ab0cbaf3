import type { ErrorEntry } from '../errors.ts';
import type { ParsedRequest } from '../http1/parse-request.ts';
import type { PluginPlan } from '../plugin-runner/plan.ts';
import type { BackendAnswer, BackendCall } from '../plugin-sdk/calls.ts';
import type { NoneOf } from '../plugin-sdk/contexts.ts';
import type { Reply } from '../plugin-sdk/reply.ts';
import type { ConsumerView, CredentialView, IdentityDetails } from '../plugin-sdk/request-views.ts';
import type { AnswerTap, BodyTransform } from '../plugin-sdk/response-views.ts';
import type {
  RuntimeRoute,
  RuntimeService,
  RuntimeSnapshot,
  RuntimeTarget,
  RuntimeUpstream,
} from '../snapshot/runtime.ts';
import type { UpstreamLink } from '../upstream/upstream-link.ts';
import type { LoggedHead } from './access-lines.ts';
import type { BodyBudget } from './body-budget.ts';
import type { BufferedResponse } from './buffered-response.ts';
import type { Downstream } from './downstream.ts';
import type { HeaderEdits } from './header-edits.ts';
import type { RequestBody } from './request-body.ts';
import type { RequestContext } from './request-context.ts';
import type { TraceRecorder } from './trace-recorder.ts';
import type { UpstreamPolicy } from './upstream-policy.ts';

/** Carries the calls of plugins to backends. */
export interface BackendCaller {
  call(x: Exchange, call: BackendCall): Promise<BackendAnswer>;
}

/** What is the same for all requests of one client connection. */
export interface DownstreamPeer {
  /** The other end of the connection, or whom the PROXY header of a trusted one names. */
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
  /** TLS version and cipher; null without TLS. */
  readonly tls: { readonly version: string; readonly cipher: string } | null;
  /** The client's certificates in DER, its own first; null when it showed none. */
  readonly clientCertificates: readonly Uint8Array[] | null;
  /** Requests begun on this connection. */
  requests: number;
  /** Forwarding lines that are the same for all its requests; made with the first. */
  lines: string;
  /** What the access log wrote last of the fields of a head; null: nothing yet. */
  logged: LoggedHead | null;
  /** How plugins of its requests ask backends; null: they cannot. */
  readonly calls: BackendCaller | null;
  /** The memory for collected bodies; null: unlimited. */
  readonly bodies: BodyBudget | null;
}

/** One attempt at a backend, as the log tells it. */
export interface UpstreamAttempt {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly ip: string;
  readonly port: number;
  /** Set when the attempt failed: the status it would have given. */
  readonly failed: number;
}

/** Plugins of which one has to authenticate the client. */
export interface Alternatives {
  readonly names: ReadonlySet<string>;
  readonly otherwise: NoneOf;
  /** Answers that are held back. */
  readonly refusals: Reply[];
  /** How many of the plugins have run. */
  asked: number;
  /** One of them has authenticated the client, or none and that is decided too: they are not asked any more. */
  settled: boolean;
}

/** What can be given up. */
export interface Cancellable {
  cancel(): void;
}

/** Who answered: the backend, or the gateway (its core or a plugin). */
export type ResponseSource = 'upstream' | 'gateway';

/** One request and its answer, from the first byte in to the last byte out. Fields only; the same shape for both engines. */
export class Exchange {
  /** The client's side, or what stands before it when the request is explained. */
  downstream: Downstream;
  readonly peer: DownstreamPeer;
  readonly head: ParsedRequest;
  readonly snapshot: RuntimeSnapshot;
  /** 32 hexadecimal digits. */
  readonly id: string;
  /** Milliseconds since the epoch, and on the monotonic clock. */
  startedAt: number;
  startedMono: number;
  /** The normalised path; '' until it is known. */
  path = '';
  /** Client address after real-ip rules; scheme, host and port as forwarded by a trusted peer. */
  clientIp: string;
  clientScheme: 'http' | 'https';
  /** What happens to the request is recorded; null: it is not. */
  trace: TraceRecorder | null = null;
  /** The random number of the request; -1: not drawn. */
  draw = -1;
  /** Filled by the router (RouteMatch). */
  route: RuntimeRoute | null = null;
  matchedPath = '';
  captures: RegExpExecArray | null = null;
  service: RuntimeService | null = null;
  plan: PluginPlan;
  /** Made when the first plugin runs. */
  context: RequestContext | null = null;
  /** Plans whose instances are kept from being disposed of: the first one, and those after it when plans changed. */
  heldPlan: PluginPlan | null = null;
  moreHeldPlans: PluginPlan[] | null = null;
  consumer: ConsumerView | null = null;
  credential: CredentialView | null = null;
  details: IdentityDetails | null = null;
  /** The version of the API that a plugin has found out; '' for none. */
  apiVersion = '';
  /** Header lines that tell the backend who the client is. */
  identity = '';
  /** Plugins of which one is enough; null unless a plugin said so. */
  alternatives: Alternatives | null = null;
  /** What plugins changed for the backend. */
  requestEdits: HeaderEdits | null = null;
  upstreamMethod: string | null = null;
  upstreamPath: string | null = null;
  /** Below the path of whichever service gets the request; null: what its route leaves of the client's. */
  pathInService: string | null = null;
  upstreamQuery: string | null = null;
  /** Request body, when a plugin asked for it. */
  requestBody: Uint8Array | null = null;
  /** Bytes of bodies that it holds in the worker's budget. */
  heldBytes = 0;
  /** Its bytes are no longer to be had from the client. */
  bodyTaken = false;
  /** A plugin has limited its size. */
  bodyLimited = false;
  /** `Sec-WebSocket-Key` of the handshake that the backend was sent; '' when the request is not one. */
  handshakeKey = '';
  /** Request target as sent to the backend (path and query); '' when none was contacted. */
  upstreamUri = '';
  target: RuntimeTarget | null = null;
  /** The connection that carries the request to the backend, while it does. */
  upstream: UpstreamLink | null = null;
  /** Attempts made at a backend, pooled connections that had gone stale not counted. */
  tries = 0;
  /** Those connections. */
  staleLinks = 0;
  /** Attempts that failed; null when the first one served. */
  failedAttempts: UpstreamAttempt[] | null = null;
  /** When the present attempt began, on the monotonic clock; and the address that it goes to. */
  attemptStartedMono = 0;
  targetIp = '';
  targetPort = 0;
  /** Grows with everything that makes what was begun before for an attempt pointless. */
  attemptSerial = 0;
  /** Names that the request has waited for. */
  nameWaits = 0;
  /** What the system said of a connection that could not be opened; '' when nothing. */
  failureCause = '';
  /** The upstream that the present attempt's address is of; null for a plain service. */
  balanced: RuntimeUpstream | null = null;
  /** Place in the address zone where the attempt counts as in flight; 0: nowhere. */
  heldSlot = 0;
  /** Milliseconds from the start that a gRPC client waits; what is left of them is passed on. 0: it has not said. */
  grpcTimeout = 0;
  /** What plugins said of attempts and time-outs. */
  policy: UpstreamPolicy | null = null;
  /** Place in the plan of the plugin whose access phase runs, or ran last. */
  accessAt = 0;
  /** Made for a client without one, to hash on (consistent hashing); the answer sets it. */
  hashCookie: { readonly name: string; readonly value: string } | null = null;
  /** Targets that failed in this request; the balancer passes them over. */
  failedTargets: RuntimeTarget[] | null = null;
  /** The answer, while it is collected for the `response` phase; the transform over its body. */
  buffered: BufferedResponse | null = null;
  transform: BodyTransform | null = null;
  /** Bytes of the answer's body before body filters; -1: not known. */
  responseLength = -1;
  /** A body that waits for the client to take more. */
  wholeBody: { resume(): void } | null = null;
  /** Sees the body of the backend's answer as it comes. */
  tap: AnswerTap | null = null;
  /** What a plugin answers in the place of the backend, whose answer has no body. */
  replacement: Reply | null = null;
  /** The error that the gateway answered with; null: none. */
  error: ErrorEntry | null = null;
  /** Calls to backends that plugins have made for it and that end with it. */
  calls: Set<Cancellable> | null = null;
  /** The body on its way to the backend; null when there is none. */
  body: RequestBody | null = null;
  /** The answer: status, validated header block of the backend or the gateway, and what plugins changed of it. */
  status = 0;
  /** Reason phrase of the backend; '' stands for the usual one. */
  reason = '';
  responseSource: ResponseSource = 'gateway';
  responseBlock = '';
  responseEdits: HeaderEdits | null = null;
  upstreamStatus = 0;
  /** Monotonic clock: when the backend was first asked, when its first byte came. 0: never. */
  upstreamStartedMono = 0;
  firstByteMono = 0;
  /** Header lines that the gateway added to the answer: `X-Kong-...`, `Server-Timing`. */
  sentLines = '';
  /** Bytes of bodies; heads are counted by the connection. */
  bytesReceived = 0;
  bytesSent = 0;
  /** The client went away before the answer was complete. */
  clientAborted = false;
  /** Set when the answer has begun: it can no longer be replaced. */
  headSent = false;
  finished = false;

  constructor(
    downstream: Downstream,
    peer: DownstreamPeer,
    head: ParsedRequest,
    snapshot: RuntimeSnapshot,
    id: string,
    startedAt: number,
    startedMono: number,
  ) {
    this.downstream = downstream;
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

  /** When the present attempt began, milliseconds since the epoch. */
  get attemptStartedAt(): number {
    return this.startedAt + (this.attemptStartedMono - this.startedMono);
  }

  /** Records that the present attempt failed; `status` is what it would have given. */
  failAttempt(status: number): void {
    const target = this.target;
    if (target === null) return;
    this.failedAttempts ??= [];
    this.failedAttempts.push({
      startedAt: this.attemptStartedAt,
      ip: this.targetIp,
      port: this.targetPort,
      failed: status,
    });
    this.failedTargets ??= [];
    this.failedTargets.push(target);
  }
}

/** The random number that decides about the exchange by rate: from 0 to below 1, the same whoever asks. */
export function drawOf(x: Exchange): number {
  if (x.draw < 0) x.draw = Math.random();
  return x.draw;
}
