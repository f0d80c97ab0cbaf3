import type { SecureContext } from 'node:tls';
import type { BackendAnswer, BackendCall } from './calls.ts';
import type { HeaderBlock, Reply } from './reply.ts';
import type {
  ClientView,
  ConnectionView,
  ConsumerView,
  CredentialView,
  HandshakeView,
  IdentityDetails,
  RequestMeasures,
  RequestView,
  RouteView,
  ServiceView,
} from './request-views.ts';
import type {
  AnswerTap,
  BodyTransform,
  ResponseHeadEdit,
  ResponseHeadView,
  ResponseWithBody,
} from './response-views.ts';
import type { StreamContext, StreamLogContext } from './stream-contexts.ts';
import type { Trace } from './trace.ts';
import type { UpstreamRequestEdit } from './upstream-request-edit.ts';

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

/** The answer's head, before it goes to the client. Runs for every answer, refusals included. Must be synchronous. */
export interface HeaderFilterContext extends BaseContext {
  readonly response: ResponseHeadEdit;
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

/** After the answer has gone. Read only. */
export interface LogContext extends BaseContext {
  readonly response: ResponseHeadView;
  readonly measures: RequestMeasures;
  /** The log record in Kong's format, made on the first call and shared by all plugins. */
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
