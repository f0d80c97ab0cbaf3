import type { SecureContext } from 'node:tls';
import type {
  AccessContext,
  BackendAnswerContext,
  BaseContext,
  HeaderFilterContext,
  LogContext,
  ResponseContext,
  RewriteContext,
} from './contexts.ts';
import type { Reply } from './reply.ts';
import type { HandshakeView } from './request-views.ts';
import type { AnswerTap, BodyTransform } from './response-views.ts';
import type { StreamContext, StreamLogContext } from './stream-contexts.ts';

/**
 * Redacts what the access log and the log record show of requests, for data that is no credential: personal data in a
 * query, an account number in a header. Declare credentials in `needs.secrets` instead.
 *
 * Called for each line of a request in the instance's scope, also for one that was refused before the plugin ran. Must be
 * quick, and must not throw. Fields that a plugin adds with `context.log` do not pass through it.
 *
 * @example
 * logMask: {
 *   query: (query) => query.replaceAll(/email=[^&]+/g, 'email=***'),
 *   header: (name, value) => (name === 'x-account' ? '***' : value),
 * }
 */
export interface LogMask {
  /** @param query As the client sent it, without the question mark. */
  query?(query: string): string;
  /** @param name Of a request or response header, in lower case. */
  header?(name: string, value: string): string;
  /**
   * A body of a request or a response, as `GET /traffic/<id>` shows it to those who may see bodies; no log contains one. It is complete, and
   * without its content coding. Throw, or reject, if the body cannot be masked: then it is not shown. At most two seconds.
   *
   * @param contentType As it was sent; null: there was none, or more than one.
   */
  body?(contentType: string | null, body: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

/** A `Reply` answers the request; nothing: it continues. A function that ends without `return` is a phase, too. */
// biome-ignore lint/suspicious/noConfusingVoidType: without `void`, TypeScript demands `return undefined` of each phase.
export type PhaseAnswer = void | Reply;

/**
 * What `setup` returns: the phases of an instance, in the order in which a request reaches them. In each phase the plugin
 * with the higher priority runs first.
 *
 * A `Reply` from `rewrite` or `access` answers the request: `access` of plugins with a lower priority does not run, but
 * their `headerFilter` and `log` do. An exception in `rewrite`, `access` or `response` is answered with 500 (a `CallFailed` with its
 * status) and logged; in other phases it is logged and the request continues, except where a phase says otherwise.
 *
 * @example
 * export function greet(config: HelloConfig, tools: PluginTools): PluginPhases {
 *   return {
 *     access(context: AccessContext) {
 *       const name = context.request.queryArgument('name');
 *       if (name === null) return refuse(400, 'Who are you?');
 *       context.upstream.setHeader('X-Greeted', name);
 *     },
 *   };
 * }
 */
export interface PluginPhases {
  /**
   * In the TLS handshake of a client that sends a server name; global instances only. Returns the certificate to use instead of
   * the gateway's choice; null: no opinion. A handshake with `challenge` fails if no plugin returns one.
   */
  certificate?(handshake: HandshakeView): SecureContext | null | Promise<SecureContext | null>;
  /** Before routing; global instances only. */
  rewrite?(context: RewriteContext): PhaseAnswer | Promise<PhaseAnswer>;
  /** After routing, before a backend is contacted. */
  access?(context: AccessContext): PhaseAnswer | Promise<PhaseAnswer>;
  /**
   * Instead of `access`, when another authentication plugin was enough (`AccessContext.authenticateWithAny`). An authentication
   * plugin removes its credential from the request here, as `hide_credentials` requires.
   */
  accessSkipped?(context: AccessContext): void;
  /**
   * A backend has responded, or a plugin instead of it (`backendReply`), and no plugin has changed the response yet. Returns a
   * tap for a copy of the body, a `Reply` to continue with instead (the backend's body is dropped), or null. Must be
   * synchronous.
   */
  backendAnswer?(context: BackendAnswerContext): AnswerTap | Reply | null;
  /**
   * All attempts failed. A `Reply` replaces the error of this status (502, 503 or 504). Must be synchronous.
   *
   * @example
   * backendFailure: (context, status) => (status === 504 ? replyJson(200, lastKnown) : null),
   */
  backendFailure?(context: BaseContext, status: number): Reply | null;
  /**
   * Whether `response` needs the body of this response: decided by its head, so that a download streams although the plugin
   * buffers JSON. False: `response` does not run. Must be synchronous; an exception
   * counts as true. Default: true for every response.
   *
   * @example
   * shouldBufferResponse: ({ response }) => mediaType(response.header('content-type'))?.isJson === true,
   */
  shouldBufferResponse?(context: HeaderFilterContext): boolean;
  /** The buffered response of the backend; needs `responseBody` with the mode `buffer`. */
  response?(context: ResponseContext): PhaseAnswer | Promise<PhaseAnswer>;
  /** Before the head of any response is sent. */
  headerFilter?(context: HeaderFilterContext): void;
  /**
   * Called once for each response, after `headerFilter`; needs `responseBody` with the mode `stream`. Null: this response is
   * left unchanged. An exception, also one of the transform, aborts the transfer.
   */
  bodyFilter?(context: HeaderFilterContext): BodyTransform | null;
  /** After the response was sent. */
  log?(context: LogContext): void;
  /** Redacts log lines of requests in the instance's scope. */
  readonly logMask?: LogMask;
  /**
   * For each stream (TCP, TLS, UDP) whose route matched, if `protocols` of the instance has its protocol. False, or an
   * exception: the stream is closed.
   */
  accept?(context: StreamContext): boolean;
  /** After a stream ended, if `protocols` of the instance has its protocol. */
  streamLog?(context: StreamLogContext): void;
  /** The node ends, and no request is left: send what is still queued. At most five seconds; then `dispose`. */
  drain?(): Promise<void>;
  /** Frees what `setup` opened: the configuration was replaced or removed, and no request uses the instance any more. */
  dispose?(): void;
}
