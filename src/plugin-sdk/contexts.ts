import type { SecureContext } from 'node:tls';
import type { AttemptWatcher, RetryPolicy, UpstreamTimeouts } from './attempts.ts';
import type { BackendAnswer, BackendCall } from './calls.ts';
import type { HeaderNames } from './header-names.ts';
import type { HeaderBlock, Reply } from './reply.ts';
import type { Trace } from './trace.ts';

/** The request as the client sent it. Reads are lazy; nothing is parsed that no plugin asks for. */
export interface RequestView {
  /** 32 hexadecimal digits, the same in the log, the answer and the upstream request. */
  readonly id: string;
  readonly method: string;
  /** The client's scheme: of the connection, or `X-Forwarded-Proto` when the peer is trusted. */
  readonly scheme: 'http' | 'https';
  /** Host header in lower case, without the port; '' when absent. */
  readonly host: string;
  /** Port of the listener, or of `X-Forwarded-Port` when the peer is trusted. */
  readonly port: number;
  /** The normalised path that routes are matched against, one char for each byte. */
  readonly path: string;
  /** The path as sent, without the query. */
  readonly rawPath: string;
  /** The query as sent, without the question mark; '' when absent. */
  readonly query: string;
  readonly httpVersion: '1.0' | '1.1' | '2';
  /** Bytes of the body as the head tells them; -1: there may be one, of unknown length; 0: there is none. HTTP/2 needs no header for any of them. */
  readonly bodyLength: number;
  /** The protocol that the client wants to change to, `websocket` also where HTTP/2 opens one by CONNECT; '' for none. */
  readonly upgrade: string;
  /** First value of a header (any case), or null. */
  header(name: string): string | null;
  /** All values of a header, in order. */
  headerValues(name: string): readonly string[];
  /** All headers: lower-case names, values in order. */
  headers(): Readonly<Record<string, readonly string[]>>;
  /** All header lines as they came: cheap to search for what hardly any request has. */
  block(): HeaderBlock;
  /** First value of a query argument, decoded; '' for one without a value; null when absent. */
  queryArgument(name: string): string | null;
  queryArguments(): Readonly<Record<string, readonly string[]>>;
  /** Captures of a regular-expression path: by number from '1', and by name. Empty when there are none. */
  uriCaptures(): Readonly<Record<string, string>>;
}

export interface ConsumerView {
  readonly id: string;
  readonly username: string | null;
  readonly customId: string | null;
  readonly tags: readonly string[];
}

export interface CredentialView {
  readonly id: string | null;
  /** What `X-Credential-Identifier` shows; null when there is none. */
  readonly identifier: string | null;
}

/** What a token or directory told of the client beside who it is. */
export interface IdentityDetails {
  /** Groups that the authentication method vouches for ("authenticated groups"); null: it names none. */
  readonly groups: readonly string[] | null;
  readonly scopes: readonly string[] | null;
  /** Verified claims of a token. */
  readonly claims: Readonly<Record<string, unknown>> | null;
}

export interface ClientView {
  /** The client's address, after `trusted_ips` and `real_ip_header`. */
  readonly ip: string;
  /** The address of the connection's other end. */
  readonly peerIp: string;
  readonly port: number;
  readonly consumer: ConsumerView | null;
  readonly credential: CredentialView | null;
  /** Null until a plugin authenticated the client and knew more of it. */
  readonly details: IdentityDetails | null;
}

export interface RouteView {
  readonly id: string;
  readonly name: string | null;
  readonly tags: readonly string[];
}

export interface ServiceView {
  readonly id: string;
  readonly name: string | null;
  readonly host: string;
  readonly port: number;
  readonly protocol: string;
  readonly path: string | null;
  readonly tags: readonly string[];
}

/** The client's connection to the gateway. */
export interface ConnectionView {
  readonly localIp: string;
  /** Port of the listener, after `port_maps`. */
  readonly localPort: number;
  /** Number of this connection in its worker. */
  readonly serial: number;
  /** Requests begun on this connection, this one included. */
  readonly requests: number;
  /**
   * The certificates that the client showed, DER, its own first; null when it showed none. They are not verified. Asked
   * for only when a plugin declares `needs.clientCertificate`.
   */
  readonly clientCertificates: readonly Uint8Array[] | null;
  /** Null without TLS. What a proxy in front says of its own connection shows in `request.scheme` only. */
  readonly tls: { readonly version: string; readonly cipher: string } | null;
}

/** A TLS client that begins a handshake. */
export interface HandshakeView {
  /** The name that the client asks for (SNI), in lower case and without a dot at its end; never ''. */
  readonly serverName: string;
  /** An SNI entity names a certificate for it. */
  readonly hasCertificate: boolean;
  /** The client speaks `acme-tls/1` (RFC 8737): it checks who controls the name, and sends no request. TLS 1.3 only. */
  readonly challenge: boolean;
}

/** What every phase sees. */
export interface BaseContext {
  readonly request: RequestView;
  readonly client: ClientView;
  readonly connection: ConnectionView;
  /** The matched route; null before routing and when nothing matched. */
  readonly route: RouteView | null;
  readonly service: ServiceView | null;
  /** A value kept from one phase to a later one of the same request; only code that has the key can reach it. */
  get<T>(key: ContextKey<T>): T | undefined;
  set<T>(key: ContextKey<T>, value: T): void;
  /** Adds a field to the log record. */
  log(field: string, value: unknown): void;
  /** What is recorded of this request; null: it is not (`needs.trace`). */
  readonly trace: Trace | null;
  /** A random number from 0 to below 1, the same in all phases of a request: decisions by rate are made with it. */
  readonly draw: number;
  /** The request is explained only (`sluicegate explain --dry-run`): nothing of it is to reach a backend, nor a copy of it. */
  readonly dry: boolean;
}

/** A typed place in the context, made once with `contextKey<T>('name')`. */
export interface ContextKey<T> {
  readonly name: string;
  readonly symbol: symbol;
  /** Only carries the type. */
  readonly type?: T;
}

/**
 * Changes to the request that the backend receives. Names and values with control bytes are refused with an exception,
 * and so are headers that frame a message (Content-Length, Transfer-Encoding, Connection, ...): they are the gateway's.
 */
export interface UpstreamRequestEdit {
  /**
   * Where plugins have sent the request so far, as a text: '' when none changed method, path, query, service or upstream. Equal
   * texts for equal changes.
   */
  readonly changes: string;
  /**
   * All values of a header (any case) as the backend would get it now: what the client sent and may pass, who it is, what plugins
   * have changed. `Host` and the forwarding headers are not among them: they are written last.
   */
  headerValues(name: string): readonly string[];
  /** The query that the backend would get now, without the question mark; '' when there is none. */
  query(): string;
  setHeader(name: string, value: string): void;
  /**
   * The same for a header that the client is known not to have sent: the gateway does not search its lines, which is about half of
   * the cost. What plugins have set is replaced.
   */
  setAbsentHeader(name: string, value: string): void;
  addHeader(name: string, value: string): void;
  /** Does nothing to `Host` and to headers that frame the message. */
  removeHeader(name: string): void;
  /** Method sent to the backend. */
  setMethod(method: string): void;
  /**
   * Path sent to the backend, without a query: one char for each byte, as `request.path` is. What may not stand in a
   * path is escaped, `?` and `#` too; escapes that are there stay.
   */
  setPath(path: string): void;
  /** The path below the service's own: what the route's `strip_path` leaves of the client's, or what a plugin has set. */
  readonly pathInService: string;
  /**
   * The same as `setPath`, but the path of the service goes before it: of the one that gets the request, whichever plugin chooses it.
   * The last call of the two counts.
   */
  setPathInService(path: string): void;
  /** Query sent to the backend, without the question mark; what may not stand in a query is escaped. */
  setQuery(query: string): void;
  /**
   * Takes the arguments of these (decoded) names out of the query sent to the backend; all other bytes of it stay as they
   * are, also what another plugin has set.
   */
  removeQueryArguments(names: ReadonlySet<string>): void;
  /**
   * The body sent to the backend, and read by plugins that run later. Throws unless the whole body has been read with
   * `context.body()`, or there is none. `Content-Length` follows from it.
   */
  setBody(body: Uint8Array): void;
  /** Waits for the backend as long as this; what is not named stays as the service or an earlier plugin has it. */
  setTimeouts(timeouts: Partial<UpstreamTimeouts>): void;
  /** Decides about further attempts in the place of the service's `retries`. The last call counts. */
  setRetries(policy: RetryPolicy): void;
  /** Adds a watcher of this request's attempts. */
  watchAttempts(watcher: AttemptWatcher): void;
  /** Sends the request to the targets of this upstream instead of the service's own. False: there is no such upstream. */
  setUpstream(name: string): boolean;
  /** Sends the request to another service (id or name): its address, protocol, path, TLS and time-outs. False: there is none. */
  setService(idOrName: string): boolean;
  /** Takes cookies of these names, and the parts of large ones (`name_2` to `name_9`), out; others stay as they are. */
  removeCookies(names: readonly string[]): void;
}

/** Before routing; global instances only. Return a `Reply` to answer now, whether or not a route would match. */
export interface RewriteContext extends BaseContext {
  readonly upstream: UpstreamRequestEdit;
}

/**
 * What to do when none of the plugins authenticated the client: return the answer, or `authenticate` somebody and return
 * nothing. `refusals`: the 401 answers that were held back. `asked`: how many of the plugins were there to be asked.
 */
export type NoneOf = (
  context: AccessContext,
  refusals: readonly Reply[],
  asked: number,
) => Reply | undefined | Promise<Reply | undefined>;

/** After routing, before the backend is contacted. Return a `Reply` to answer now. */
export interface AccessContext extends BaseContext {
  readonly upstream: UpstreamRequestEdit;
  /** Other plugins have their access phase after this one: they may change the request, or answer it themselves. */
  readonly followed: boolean;
  /**
   * Names the consumer and credential of this request; sets or clears the identity headers. A consumer without a
   * credential is the anonymous one.
   */
  authenticate(
    consumer: ConsumerView | null,
    credential: CredentialView | null,
    details?: Partial<IdentityDetails>,
  ): void;
  /**
   * Names the version of the API that the request is for; analytics count requests by it. One of a few names from the configuration, of
   * 64 characters at most, never a client's own text.
   */
  setApiVersion(name: string): void;
  /**
   * From here on one of these plugins (names) is enough: they run in their order, a 401 of each is held back, and once one
   * has authenticated the client the others are skipped. When none did, `otherwise` decides after the last of them, or at
   * once when none of them is configured for the request. Any other answer than a 401 is final.
   */
  anyOf(names: ReadonlySet<string>, otherwise: NoneOf): void;
  /**
   * Sets the largest request body, in bytes, for this request. False: it is known to be larger already; refuse it. A body
   * of undeclared length (chunked) is measured while it streams by, whoever reads it: beyond the limit the client gets 413
   * `Request size limit exceeded`, and nothing of the excess is passed on. The lowest limit of several counts.
   */
  limitBody(bytes: number): boolean;
  /** The whole request body, empty when there is none. Rejects unless the plugin declared `needs.requestBody`. */
  body(): Promise<Uint8Array>;
  /**
   * The same with its content coding (gzip, deflate, br, zstd) taken off: from then on the backend gets it so, too, without
   * `Content-Encoding`. A coding that is unknown is answered with 415, a broken one with 400, one that grows beyond
   * `needs.requestBody` with 413, and the plugin hears no more of it.
   */
  decodedBody(): Promise<Uint8Array>;
  /**
   * Sends a request of the gateway's own to a backend. It goes the way of all requests (balancing, health, retries, TLS), but no
   * plugins run for it. Rejects with a `CallFailed`.
   */
  call(call: BackendCall): Promise<BackendAnswer>;
}

export interface ResponseHeadView {
  readonly status: number;
  /** `upstream`: the backend answered. `gateway`: a plugin or the gateway itself did. */
  readonly source: 'upstream' | 'gateway';
  /** Bytes of the body before body filters, for HEAD those that a GET would get; -1: not known. */
  readonly bodyLength: number;
  header(name: string): string | null;
  headerValues(name: string): readonly string[];
  headers(): Readonly<Record<string, readonly string[]>>;
}

/** Changes to the answer's head, under the rules of `UpstreamRequestEdit`. */
export interface ResponseHeadEdit extends ResponseHeadView {
  /** From 200 to 599. */
  setStatus(status: number): void;
  setHeader(name: string, value: string): void;
  /** Sets several headers to these values, in the order of the names: cheaper than one by one. */
  setHeaders(names: HeaderNames, values: readonly string[]): void;
  addHeader(name: string, value: string): void;
  removeHeader(name: string): void;
}

/** The answer's head, before it goes to the client. Runs for every answer, refusals included. Must be synchronous. */
export interface HeaderFilterContext extends BaseContext {
  readonly response: ResponseHeadEdit;
}

/**
 * A transform over the answer's body. `chunk` is called for each piece, `end` once; each returns what to send on. One
 * that throws breaks the transfer off: what it should have changed is never sent unchanged.
 */
export interface BodyTransform {
  chunk(piece: Uint8Array): Uint8Array | null;
  /** `trailers`: fields behind the backend's body, lower-case names and values in order; empty when there are none. */
  end(trailers: Readonly<Record<string, readonly string[]>>): Uint8Array | null;
  /** The trailers have become part of the body, and do not go to the client besides. Default: they do. */
  readonly keepsTrailers?: boolean;
}

/** A whole answer, buffered because the plugin declared `needs.responseBody: 'buffer'`. */
export interface ResponseWithBody extends ResponseHeadEdit {
  /**
   * As the backend sent it or a plugin before this one left it. A content coding that the gateway knows (gzip, deflate, br, zstd)
   * has been taken off; `Content-Encoding` names the ones that are left.
   */
  body(): Uint8Array;
  /** Puts another body in its place; `Content-Length` follows. Validators of the old one (`ETag`, ...) are the caller's matter. */
  setBody(body: Uint8Array): void;
}

/** A copy of a backend's answer, taken while it streams by. */
export interface AnswerTap {
  /** Valid during the call only. */
  chunk(piece: Uint8Array): void;
  /** The answer is complete. */
  end(): void;
  /** It broke off; what has come is not the whole. */
  aborted(): void;
}

/** The head of a backend's answer as it came, before any plugin changed it. */
export interface BackendAnswerContext extends BaseContext {
  readonly response: ResponseHeadView & {
    /** All header lines, in their order, without those that frame the message. */
    block(): HeaderBlock;
  };
}

/** Before the buffered answer goes to the client. Return a `Reply` to send that instead. */
export interface ResponseContext extends BaseContext {
  readonly response: ResponseWithBody;
}

/** What was measured of a finished request; reading it costs nothing. Times are milliseconds, with fractions. */
export interface RequestMeasures {
  /** Since the epoch. */
  readonly startedAt: number;
  /** From the first byte of the request to the end of the answer. */
  readonly total: number;
  /** Until a backend was first asked, or until the answer when none was (Kong's `kong` latency). */
  readonly gateway: number;
  /** Until a backend's first byte (Kong's `proxy` latency); -1: none was asked. */
  readonly upstream: number;
  /** From that byte to the end. */
  readonly receive: number;
  /** Heads and bodies, as in the log record. */
  readonly bytesReceived: number;
  readonly bytesSent: number;
  /** What the backend answered; 0: none did. */
  readonly upstreamStatus: number;
  /** Attempts made at backends. */
  readonly tries: number;
  /** The client went away before the answer was complete. */
  readonly aborted: boolean;
}

/** After the answer has gone. Read only. */
export interface LogContext extends BaseContext {
  readonly response: ResponseHeadView;
  readonly measures: RequestMeasures;
  /** The log record in Kong's format, made on the first call and shared by all plugins. */
  record(): Readonly<Record<string, unknown>>;
}

/** A stream whose route has been found, before anything goes to a backend. */
export interface StreamContext {
  readonly protocol: 'tcp' | 'tls' | 'tls_passthrough' | 'udp';
  readonly client: {
    /** The client's address, after `trusted_ips` and the PROXY protocol. */
    readonly ip: string;
    readonly port: number;
  };
  readonly localIp: string;
  /** Port of the listener, after `port_maps`. */
  readonly localPort: number;
  /** TLS server name in lower case; '' when there is none. */
  readonly serverName: string;
  readonly route: RouteView;
  readonly service: ServiceView | null;
}

/** A stream that is over. Read only. */
export interface StreamLogContext extends StreamContext {
  /** What was measured: times in milliseconds, bytes from and to the client. */
  readonly measures: {
    readonly startedAt: number;
    readonly total: number;
    readonly gateway: number;
    readonly bytesReceived: number;
    readonly bytesSent: number;
    /** As nginx: 200, 400, 403, 500, 502, 503. */
    readonly status: number;
    readonly source: 'upstream' | 'gateway';
  };
  /** The log record in Kong's format for streams, made on the first call and shared by all plugins. */
  record(): Readonly<Record<string, unknown>>;
}

/** Rewrites what would stand in a log. Called for each line that is written, so it must be quick; must not throw. */
export interface LogMask {
  /** A query as it was sent, without the question mark. */
  query?(query: string): string;
  /** A header field of request or answer, name in lower case. */
  header?(name: string, value: string): string;
}

export interface PluginPhases {
  /**
   * In the TLS handshake of a client that names a server; global instances only. Gives the certificate to show in place of
   * the one that the gateway would show; null: no opinion. A handshake that is a challenge fails unless one is given.
   */
  certificate?(handshake: HandshakeView): SecureContext | null | Promise<SecureContext | null>;
  rewrite?(context: RewriteContext): void | Reply | Promise<void> | Promise<Reply | undefined>;
  access?(context: AccessContext): undefined | Reply | Promise<undefined | Reply>;
  /** In place of `access`, when another plugin was enough (`anyOf`): to hide a credential that was not needed. */
  skipped?(context: AccessContext): void;
  /**
   * A backend has answered, or a plugin in its place (`backendReply`); nothing has changed the answer yet. Return a tap to see its
   * body, too, a `Reply` to go on with that instead (the backend's body is dropped), or null. Must be synchronous.
   */
  backendAnswer?(context: BackendAnswerContext): AnswerTap | Reply | null;
  /** No backend has answered, and none will be asked again. A `Reply` goes in the place of the error of this status. */
  backendFailure?(context: BaseContext, status: number): Reply | null;
  /**
   * Whether `response` needs the body of this answer. False: it streams by as far as this plugin is concerned, and `response` does
   * not run for it. Default: of all answers.
   */
  wantsBody?(context: HeaderFilterContext): boolean;
  headerFilter?(context: HeaderFilterContext): void;
  /** Called once for each answer, after headerFilter; null means that this answer is left alone. */
  bodyFilter?(context: HeaderFilterContext): BodyTransform | null;
  response?(context: ResponseContext): undefined | Reply | Promise<undefined | Reply>;
  log?(context: LogContext): void;
  /** For each stream in the scope of an instance whose `protocols` name one of theirs, when it is over. */
  streamLog?(context: StreamLogContext): void;
  /** What logs show of requests that this instance runs for, also of those refused before its turn. */
  readonly logMask?: LogMask;
  /**
   * For each stream (TCP, TLS, UDP) in the scope of an instance whose `protocols` name one of theirs. False, or an exception:
   * the stream is closed.
   */
  accept?(context: StreamContext): boolean;
  /**
   * The node ends and no request is left: what is still gathered is sent on. Not waited for longer than five seconds. `dispose` follows.
   */
  drain?(): Promise<void>;
  /** Frees what `setup` made; called when the instance's configuration was replaced and no request uses it any more. */
  dispose?(): void;
}
