/*
 * The contract of a request's way: one request and its answer, and the interfaces of the parts that carry them. It imports
 * types of the config, the parsed head and the plugin contract; it imports no part that works on the exchange, so any of
 * them can be read, tested and replaced by itself.
 *
 * `Exchange` is one object with flat fields: all requests share one shape, for both engines. Its fields are grouped by
 * stage, and each names its writer.
 */
import type { UpstreamTimeouts } from '../../plugin-sdk/attempts.ts';
import type { BackendAnswer, BackendCall } from '../../plugin-sdk/calls.ts';
import type {
  AccessContext,
  BackendAnswerContext,
  HeaderFilterContext,
  LogContext,
  NoneAuthenticated,
  ResponseContext,
  RewriteContext,
} from '../../plugin-sdk/contexts.ts';
import type { HeaderBlock, Reply } from '../../plugin-sdk/reply.ts';
import type { ClientView, ConsumerView, CredentialView, IdentityDetails } from '../../plugin-sdk/request-views.ts';
import type { AnswerTap, BodyTransform, ResponseWithBody } from '../../plugin-sdk/response-views.ts';
import type { ErrorEntry } from '../../shared/errors.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import type { HeaderEdits } from '../answer/header-edits.ts';
import type { TraceRecorder } from '../answer/trace-recorder.ts';
import type { AttemptState } from '../attempt/attempt-state.ts';
import type { UpstreamPolicy } from '../attempt/upstream-policy.ts';
import type { RuntimeTarget } from '../balancer/runtime-target.ts';
import type { RequestBodySink } from '../http1/body-sink.ts';
import type { ParsedRequest } from '../http1/parsed-request.ts';
import type { WebSocketTunnel } from '../http1/websocket-tunnel.ts';
import type { PluginPlan } from '../plugin-runner/plan.ts';
import type { RuntimeRoute, RuntimeService, RuntimeSnapshot, RuntimeUpstream } from '../snapshot/runtime.ts';

/** The client's side of one exchange, the same for every protocol version. */
export interface Downstream {
  /**
   * Begins the answer: status, header block and edits are taken from the exchange. `bodyLength` is the declared length in
   * bytes, -1 when it is not known, 0 for no body. The head may be held back to leave with the first body bytes.
   */
  sendHead(exchange: Exchange, bodyLength: number): void;
  /** Sends a piece of the body; it is copied or written before the call returns. False: wait for `downstreamDrained`. */
  sendBody(exchange: Exchange, bytes: Uint8Array, start: number, end: number): boolean;
  /** The answer is complete. */
  sendEnd(exchange: Exchange, trailers: string): void;
  /** Sends what is held back: called when the backend has no more bytes for now. */
  flush(exchange: Exchange): void;
  /** Sends a 1xx answer before the final one. */
  sendInformational(exchange: Exchange, status: number, block: string): void;
  /** Breaks the transfer so that the client can see that it is not complete. */
  abort(exchange: Exchange): void;
  /** Begins to deliver the request body, after `100 Continue` when the client waits for it. */
  startBody(exchange: Exchange, sink: RequestBodySink): void;
  /**
   * Passes on at most this many bytes of a body of undeclared length; a longer one leads to `requestBodyTooLarge`. Call it
   * before the body is read.
   */
  limitBody(exchange: Exchange, bytes: number): void;
  pauseBody(exchange: Exchange): void;
  resumeBody(exchange: Exchange): void;
  /** Turns the connection into a tunnel after a 101; from here on bytes go raw through `sink`. */
  startTunnel(exchange: Exchange, sink: RequestBodySink): void;
  /** The whole request body has been read. */
  readonly bodyComplete: boolean;
}

/** The backend's side of one exchange, the same for every protocol version. Its answer goes to a `ResponseListener`. */
export interface UpstreamLink extends RequestBodySink {
  /** It has served an earlier request, so the backend may have closed it since. */
  readonly reused: boolean;
  /**
   * Sends the request's head: request line and header lines as HTTP/1.1 has them, ended by an empty line. `bodyLength`:
   * bytes, 0 for none, -1 when it is not known. Then the body comes through `bodyData` and `bodyEnd`. `now`: monotonic clock.
   */
  send(exchange: Exchange, head: string, bodyLength: number, timeouts: UpstreamTimeouts, now: number): void;
  /** Stops reading the answer, until `resume`. */
  pause(): void;
  resume(): void;
  /** Gives the exchange up without a further callback. */
  destroy(): void;
}

/** Carries the calls of plugins to backends. */
export interface BackendCaller {
  call(x: Exchange, call: BackendCall): Promise<BackendAnswer>;
}

/** The memory of a worker for collected bodies (`body-budget.ts`). */
export interface BodyMemory {
  /** Reserves bytes for the exchange until `release`. False: none are free, so the request must be refused. */
  reserve(x: BodyHolder, bytes: number): boolean;
  release(x: BodyHolder): void;
  /** Reserves memory for the copy of a body that makes another attempt possible. False: do without it. */
  reserveSpare(bytes: number): boolean;
  releaseSpare(bytes: number): void;
}

/** What `BodyMemory` reads and writes of an exchange. */
export interface BodyHolder {
  readonly clientIp: string;
  readonly finished: boolean;
  /** Bytes of bodies that it holds. */
  heldBytes: number;
}

/** A request body between the client and the connection that carries it (`request-body.ts`). */
export interface ForwardedBody extends RequestBodySink {
  /** When its last byte arrived, on the monotonic clock; 0: not yet. */
  readonly completeMono: number;
  /** False once more has been sent than is kept. */
  readonly replayable: boolean;
  /** Discards what is kept: the body will not be sent again. */
  discard(): void;
  /** Sends on `link` from now on, what is kept first. */
  sendTo(link: UpstreamLink, x: Exchange): void;
  /** Its link is closed. Pauses the client until there is another. */
  detach(x: Exchange): void;
}

/** The backend's answer while it is collected for the `response` phase (`buffered-response.ts`). */
export interface CollectedAnswer {
  /** Copies the range. Returns why that is not possible, else null. */
  push(x: Exchange, bytes: Uint8Array, start: number, end: number): ErrorEntry | null;
  /** Runs the phase and sends the answer on, or the plugin's reply. */
  finish(x: Exchange, trailers: string): void;
}

/** The answer as plugins see it (`response-view.ts`). */
export interface PluginResponse extends ResponseWithBody {
  /** The body that `body()` gives in the `response` phase; null outside of it. */
  readonly heldBody: Uint8Array | null;
  holdBody(body: Uint8Array): void;
  block(): HeaderBlock;
}

/** The exchange as plugins see it, in every phase (`request-context.ts`). */
export interface PluginContext
  extends ClientView,
    RewriteContext,
    AccessContext,
    HeaderFilterContext,
    BackendAnswerContext,
    ResponseContext,
    LogContext {
  readonly response: PluginResponse;
}

/** The fields of a head that a log wrote last, and the head. */
export interface LoggedHead {
  readonly block: string;
  /** Decides what is masked. */
  readonly plan: PluginPlan;
  readonly text: string;
}

/** The same of a log record: its other parts that depend on the head. */
export interface RecordedHead extends LoggedHead {
  readonly host: string;
  readonly method: string;
  readonly clientIp: string;
  /** The URL up to its path. */
  readonly origin: string;
  /** The client's address. */
  readonly client: string;
}

/** What is the same for all requests of one client connection. */
export interface DownstreamPeer {
  /** The other end of the connection, or the address in the PROXY header of a trusted one. */
  readonly peerIp: string;
  readonly peerPort: number;
  readonly localIp: string;
  /** Port of the listener, after `port_maps`. */
  readonly localPort: number;
  readonly scheme: 'http' | 'https';
  /** TLS server name; '' without TLS. */
  readonly sni: string;
  /** The peer is one of `trusted_ips`: its forwarding headers count. */
  readonly trusted: boolean;
  /** Number of this connection in its worker. */
  readonly serial: number;
  /** TLS version and cipher; null without TLS. */
  readonly tls: { readonly version: string; readonly cipher: string } | null;
  /** The client's certificates in DER, its own first; null when it sent none. */
  readonly clientCertificates: readonly Uint8Array[] | null;
  /** Requests begun on this connection. */
  requests: number;
  /** What is the same in all its requests to backends, for one host; made with the first. By `request-message.ts`. */
  lines: string;
  /** That host. */
  linesHost: string;
  /** The access log's cache; null: nothing was written yet. */
  logged: LoggedHead | null;
  /** The same of log records. */
  recorded: RecordedHead | null;
  /** Carries the backend calls of plugins; null: calls are not possible. */
  readonly calls: BackendCaller | null;
  /** The memory for collected bodies; null: unlimited. */
  readonly bodies: BodyMemory | null;
}

/** One attempt at a backend, as log records show it. */
export interface UpstreamAttempt {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly ip: string;
  readonly port: number;
  /** Set when the attempt failed: the status that the client would have got. */
  readonly failed: number;
}

/** Plugins; one of them has to authenticate the client. */
export interface Alternatives {
  readonly names: ReadonlySet<string>;
  readonly otherwise: NoneAuthenticated;
  /** Replies that are held back. */
  readonly refusals: Reply[];
  /** How many of the plugins have run. */
  asked: number;
  /** Decided: one of them has authenticated the client, or none could. The others do not run. */
  settled: boolean;
}

/** Something that can be given up. */
export interface Cancellable {
  cancel(): void;
}

/** Who answered: the backend, or the gateway (its core or a plugin). */
export type ResponseSource = 'upstream' | 'gateway';

/** One request and its answer, from the first byte in to the last byte out. Fields only. */
export class Exchange {
  // The request as it arrived. Written by the engine (http1, http2) when the head is complete, except where it says otherwise.

  /** The client's side. Replaced by the explainer for a request that is explained. */
  downstream: Downstream;
  peer: DownstreamPeer;
  readonly head: ParsedRequest;
  /** The config that the whole exchange uses. */
  readonly snapshot: RuntimeSnapshot;
  /** 32 hexadecimal digits. */
  readonly id: string;
  /** Milliseconds since the epoch, and on the monotonic clock. */
  startedAt: number;
  startedMono: number;
  /** The normalised path; '' until `handle-request.ts` writes it. */
  path = '';
  /** Client address and scheme, after the real-ip rules. By `client-address.ts`, before routing. */
  clientIp: string;
  clientScheme: 'http' | 'https';
  /** Records what happens to the request; null: it is not recorded. By `handle-request.ts` or the explainer, at the start. */
  trace: TraceRecorder | null = null;
  /** The random number of the request; -1: not drawn. By `drawOf`, at its first use. */
  draw = -1;
  /** Bytes of the body received. By the engine, as they arrive. */
  bytesReceived = 0;

  // Where it goes: route, service, plugins and what they found. Written before the first attempt.

  /** By the router (`RouteMatch`). */
  route: RuntimeRoute | null = null;
  matchedPath = '';
  captures: RegExpExecArray | null = null;
  /** By `handle-request.ts` from the route; by a plugin's `upstream.setService` in `access`. */
  service: RuntimeService | null = null;
  /** The plugins that run. By `handle-request.ts` from the route; by `run-access.ts` when a consumer is known. */
  plan: PluginPlan;
  /** By `begin-plugins.ts`, before the first plugin runs; null: none has. */
  context: PluginContext | null = null;
  /** The time of its plugin calls is recorded. By `begin-plugins.ts`. */
  timed = false;
  /** Plans whose instances cannot be disposed of yet: the first, and later ones. By `begin-plugins.ts`. */
  heldPlan: PluginPlan | null = null;
  moreHeldPlans: PluginPlan[] | null = null;
  /** Place in the plan of the plugin whose access phase runs or ran last. By `run-access.ts`. */
  accessAt = 0;
  /** Plugins; one of them is enough. By `request-context.ts` and `run-access.ts`; null unless a plugin said so. */
  alternatives: Alternatives | null = null;
  /** Who the client is. By `request-context.ts` when a plugin authenticates it. */
  consumer: ConsumerView | null = null;
  credential: CredentialView | null = null;
  details: IdentityDetails | null = null;
  /** Header lines that name the consumer and credential to the backend. By `request-context.ts`. */
  identity = '';
  /** The API version that a plugin set; '' for none. By `request-context.ts`. */
  apiVersion = '';
  /** The whole request body, when a plugin needs or replaces it. By `collect-body.ts` and `upstream-request-edit.ts`. */
  requestBody: Uint8Array | null = null;
  /** Bytes of bodies that it holds in the worker's memory. By `body-budget.ts`. */
  heldBytes = 0;
  /** The client's body has been read and is not available again. By `collect-body.ts`. */
  bodyTaken = false;
  /** A plugin has limited the size of the body. By `request-context.ts`. */
  bodyLimited = false;
  /** Backend calls of plugins that end with the exchange. By `backend-calls.ts`. */
  calls: Set<Cancellable> | null = null;

  // The attempt at a backend. Written in the folder `attempt/`, except where it says otherwise.

  /** What plugins changed of the request: by `upstream-request-edit.ts` in `rewrite` and `access`. Null: nothing. */
  requestEdits: HeaderEdits | null = null;
  upstreamMethod: string | null = null;
  upstreamPath: string | null = null;
  /** Path below that of the service which gets the request; null: what the route leaves of the client's. */
  pathInService: string | null = null;
  upstreamQuery: string | null = null;
  /** Attempts and timeouts as plugins set them. In `access`; null: the service's own. */
  policy: UpstreamPolicy | null = null;
  /** Made for a client without one, to hash on; the answer sets it. By `hash-inputs.ts`. */
  hashCookie: { readonly name: string; readonly value: string } | null = null;
  /** Milliseconds that a gRPC client waits; the rest of them is passed on. 0: no limit. By `attempt-timeouts.ts`. */
  grpcTimeout = 0;
  /** The upstream that the target belongs to; null for a plain service. */
  balanced: RuntimeUpstream | null = null;
  /** The target of the current attempt, and its address. */
  target: RuntimeTarget | null = null;
  targetIp = '';
  targetPort = 0;
  /** Place in the address zone where the attempt counts as in flight; 0: nowhere. */
  heldSlot = 0;
  /** The connection that carries the request. Cleared by it when the answer is complete. */
  upstream: UpstreamLink | null = null;
  /** The body on its way to the backend; null: there is none. */
  body: ForwardedBody | null = null;
  /** Request target as sent to the backend (path and query); '' when none was contacted. */
  upstreamUri = '';
  /** `Sec-WebSocket-Key` as sent to the backend; '' when the request is no handshake. */
  handshakeKey = '';
  /** Attempts at a backend, without pooled connections that turned out to be closed. */
  tries = 0;
  /** Those connections. */
  staleLinks = 0;
  /** Names that the request has waited for. */
  nameWaits = 0;
  /** State of the attempts, and how often it has changed: callbacks of an older state are ignored. By `attempts.ts`. */
  attemptState: AttemptState = 0;
  attemptSerial = 0;
  /** When the current attempt began, on the monotonic clock. */
  attemptStartedMono = 0;
  /** Attempts that failed, and their targets, which the balancer passes over. Null when the first attempt served. */
  failedAttempts: UpstreamAttempt[] | null = null;
  failedTargets: RuntimeTarget[] | null = null;
  /** The system's error for a connection that could not be opened; '' for none. */
  failureCause = '';
  /** Monotonic clock: when the backend was first asked, when its first byte came. 0: never. */
  upstreamStartedMono = 0;
  firstByteMono = 0;
  /** When nothing more happened to the exchange; 0: it goes on. By `handle-request.ts`. */
  endedMono = 0;

  // The answer. Written in the folder `answer/`, except where it says otherwise.

  /** Status, reason phrase ('' for the usual one) and validated header block. */
  status = 0;
  reason = '';
  responseSource: ResponseSource = 'gateway';
  responseBlock = '';
  /** What plugins changed of it: by `response-view.ts` in `headerFilter`. Null: nothing. */
  responseEdits: HeaderEdits | null = null;
  /** Status of the backend; 0: it has not answered. */
  upstreamStatus = 0;
  /** Bytes of the body before body filters; -1: not known. */
  responseLength = -1;
  /** The answer while it is collected for the `response` phase. */
  buffered: CollectedAnswer | null = null;
  /** The body filters. */
  transform: BodyTransform | null = null;
  /** A body in memory that waits for the client to take more. By `whole-body.ts`. */
  wholeBody: { resume(): void } | null = null;
  /** What carries a WebSocket; null: it is none. */
  tunnel: WebSocketTunnel | null = null;
  /** Sees the body of the backend's answer as it arrives. By `backend-answer.ts`, for a plugin. */
  tap: AnswerTap | null = null;
  /** A plugin's reply that replaces a backend's answer without body. */
  replacement: Reply | null = null;
  /** The error that the gateway answered with; null: none. By `gateway-answer.ts`. */
  error: ErrorEntry | null = null;
  /** Header lines that the gateway added: `X-Kong-...`, `Server-Timing`. By `response-head.ts`. */
  sentLines = '';
  /** Bytes of the header lines sent, without those of the framing; 0 before. By `response-head.ts`. */
  sentSize = 0;
  /** Bytes of the body sent. By the engine. */
  bytesSent = 0;
  /** The answer has begun: it can no longer be replaced. By the engine. */
  headSent = false;
  /** The client disconnected before the answer was complete. By the engine. */
  clientAborted = false;
  /** Complete or broken off: nothing more happens. By the engine. */
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

  /** When the current attempt began, milliseconds since the epoch. */
  get attemptStartedAt(): number {
    return this.startedAt + (this.attemptStartedMono - this.startedMono);
  }

  /** Records that the current attempt failed; `status` is what the client would have got. */
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

/** When the exchange ended, on the monotonic clock; now, while it goes on. */
export function endOf(x: Exchange): number {
  return x.endedMono > 0 ? x.endedMono : monotonic();
}

/** The random number that decides about the exchange by rate: from 0 to below 1, the same for every caller. */
export function drawOf(x: Exchange): number {
  if (x.draw < 0) x.draw = Math.random();
  return x.draw;
}
