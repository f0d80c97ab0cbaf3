import type { BackendAnswer, BackendCall } from './calls.ts';
import type { HeaderBlock, Reply } from './reply.ts';
import type {
  ClientView,
  ConnectionView,
  ConsumerView,
  CredentialView,
  IdentityDetails,
  RequestMeasures,
  RequestView,
  RouteView,
  ServiceView,
} from './request-views.ts';
import type { ResponseHeadEdit, ResponseHeadView, ResponseWithBody } from './response-views.ts';
import type { Trace } from './trace.ts';
import type { UpstreamRequestEdit } from './upstream-request-edit.ts';

/** A typed key for a value in the context of a request. Made with `contextKey`. */
export interface ContextKey<T> {
  readonly name: string;
  readonly symbol: symbol;
  /** Only carries the type; never set. */
  readonly type?: T;
}

/** What all phases of a request share. It is valid until `log` returns. */
export interface BaseContext {
  readonly request: RequestView;
  readonly client: ClientView;
  readonly connection: ConnectionView;
  /** The route that matched; null before routing, and if none matched. */
  readonly route: RouteView | null;
  /** Null: there is no route, or it has no service. */
  readonly service: ServiceView | null;
  /**
   * A value that an earlier phase of the same request has set; undefined: none did.
   *
   * @example
   * const greeted = contextKey<string>('greeted'); // once, at the top of the module
   * context.set(greeted, 'Ada'); // in access
   * context.get(greeted); // in headerFilter
   */
  get<T>(key: ContextKey<T>): T | undefined;
  set<T>(key: ContextKey<T>, value: T): void;
  /**
   * Adds a field to the log record of this request; the last value of a field counts.
   *
   * @example
   * context.log('tenant', tenant.id);
   */
  log(field: string, value: unknown): void;
  /** The recorded spans; null: the request is not recorded (`needs.trace`). */
  readonly trace: Trace | null;
  /** A random number from 0 to below 1, the same in all phases. Sample with it: `context.draw < rate`. */
  readonly draw: number;
  /** The request is only explained (`sluicegate explain --dry-run`): send neither it nor a copy of it anywhere. */
  readonly dry: boolean;
}

/**
 * Before routing; global instances only. Return a `Reply` to answer now, whether or not a route would match.
 *
 * @example
 * rewrite({ request }: RewriteContext) {
 *   return request.path === '/ping' ? reply({ status: 204 }) : undefined;
 * }
 */
export interface RewriteContext extends BaseContext {
  readonly upstream: UpstreamRequestEdit;
}

/**
 * Called when none of the plugins of `authenticateWithAny` authenticated the client. Return the reply to send, or call
 * `context.authenticate` for an anonymous consumer and return nothing.
 *
 * @param refusals The 401 replies of these plugins.
 * @param asked How many of these plugins are configured for the request.
 */
export type NoneAuthenticated = (
  context: AccessContext,
  refusals: readonly Reply[],
  asked: number,
) => Reply | undefined | Promise<Reply | undefined>;

/**
 * After routing, before a backend is contacted. Return a `Reply` to answer now, or nothing to continue. May be asynchronous.
 *
 * @example
 * async access(context: AccessContext) {
 *   const key = context.request.header('x-key');
 *   const row = key === null ? null : await tools.entities.find('keys', 'key', key, context.client.ip);
 *   if (row === null) return refuse(401, 'Unauthorized');
 *   context.upstream.setHeader('X-Key-Id', row.id);
 *   return undefined;
 * }
 */
export interface AccessContext extends BaseContext {
  /** The request that the backend will receive, and the way to it. */
  readonly upstream: UpstreamRequestEdit;
  /** True: other plugins have their access phase after this one. They may change the request or answer it. */
  readonly followed: boolean;
  /**
   * Sets the consumer and credential of this request, and the identity headers for the backend. A consumer without a
   * credential is the anonymous one; null for both clears them.
   *
   * @param details Default: none are known.
   *
   * @example
   * context.authenticate(consumer, credentialView('keyauth_credentials', row, row.id));
   */
  authenticate(
    consumer: ConsumerView | null,
    credential: CredentialView | null,
    details?: Partial<IdentityDetails>,
  ): void;
  /**
   * Sets the version of the API that the request is for. Analytics count requests by it. Use names from the configuration
   * only, never text of a client; at most 64 characters count.
   */
  setApiVersion(name: string): void;
  /**
   * Makes one of several authentication plugins enough. They run in the order of their priority, and a 401 of each is held
   * back. Once one has authenticated the client, `accessSkipped` of the others runs instead of their `access`. If none has,
   * `otherwise` decides: after the last of them, or at once if none of them is configured for the request. Any reply other
   * than a 401 is final.
   *
   * @param names Names of plugins with a lower priority.
   *
   * @example
   * context.authenticateWithAny(new Set(['key-auth', 'jwt']), (_, refusals) => refusals[0]);
   */
  authenticateWithAny(names: ReadonlySet<string>, otherwise: NoneAuthenticated): void;
  /**
   * Sets the maximum size of the request body, in bytes; the lowest of several limits applies. False: the body is already
   * known to be larger, so refuse the request. A body of undeclared length (chunked) is measured while it streams: beyond
   * the limit the client receives 413 `Request size limit exceeded`, and the rest is not forwarded.
   *
   * @example
   * if (!context.limitBody(1_000_000)) return refuse(413, 'Request size limit exceeded');
   */
  limitBody(bytes: number): boolean;
  /**
   * The whole request body; empty if there is none. A body over `needs.requestBody.maxBytes` is answered with 413, and one for
   * which `body_memory` has no room with 503: the promise then rejects, and the plugin need not catch it.
   *
   * @throws Error (rejects) if no plugin of the request declares `needs.requestBody`.
   */
  body(): Promise<Uint8Array>;
  /**
   * `body()` without its content coding (gzip, deflate, br, zstd). From then on the backend receives it decoded, too, without
   * `Content-Encoding`. An unknown coding is answered with 415, a broken one with 400, and a body that is too large once
   * decoded with 413: the promise then rejects, and the plugin need not catch it.
   *
   * @example
   * const document = parseJson(await context.decodedBody()); // with needs.requestBody
   */
  decodedBody(): Promise<Uint8Array>;
  /**
   * Sends a separate request to a backend, with balancing, health checks, retries and TLS as usual. No plugins run for it.
   *
   * @throws CallFailed (rejects) if there is no response. Any status is a response. Uncaught, it is answered with its `status`.
   *
   * @example
   * const { status } = await context.call({ to: { service: 'users' }, path: '/me', timeout: 500, maxBytes: 4096 });
   */
  call(call: BackendCall): Promise<BackendAnswer>;
}

/**
 * The head of the response, before it is sent to the client. Runs for every response, refusals of the gateway included. Must
 * be synchronous.
 *
 * @example
 * headerFilter({ response }: HeaderFilterContext) {
 *   response.setHeader('X-Frame-Options', 'DENY');
 * }
 */
export interface HeaderFilterContext extends BaseContext {
  readonly response: ResponseHeadEdit;
}

/**
 * The head of a backend's response, before any plugin changed it.
 *
 * @example
 * backendAnswer({ response, request, client }: BackendAnswerContext) {
 *   if (response.status !== 200) return null;
 *   return answerCopy(response, 65_536, client.ip, (body) => cache.set(request.path, body)); // a tap for a copy of the body
 * }
 */
export interface BackendAnswerContext extends BaseContext {
  readonly response: ResponseHeadView & {
    /** The header lines in their order, each with CRLF, without those that frame the message. */
    block(): HeaderBlock;
  };
}

/**
 * The whole response, buffered (`needs.responseBody`), before it is sent to the client. Return a `Reply` to send that instead.
 * May be asynchronous.
 *
 * @example
 * response({ response }: ResponseContext) {
 *   const document = parseJson(response.body());
 *   if (isJsonObject(document)) response.setBody(Buffer.from(jsonText({ data: document })));
 *   return undefined;
 * }
 */
export interface ResponseContext extends BaseContext {
  readonly response: ResponseWithBody;
}

/**
 * After the response was sent. Read only.
 *
 * @example
 * log({ measures, response, record }: LogContext) {
 *   if (measures.total > 1000) queue.add(JSON.stringify({ status: response.status, ...record() }));
 * }
 */
export interface LogContext extends BaseContext {
  readonly response: ResponseHeadView;
  readonly measures: RequestMeasures;
  /** The log record in Kong's format. Made on the first call and shared by all plugins of the request. */
  record(): Readonly<Record<string, unknown>>;
  /**
   * The record as one line of JSON, without an end of line; route and service come last. Costs a fraction of `record()`, which it
   * does not build. Made on the first call and shared by all plugins of the request. Throws for a value that JSON cannot represent.
   */
  recordText(): string;
}

/**
 * Makes a key for a value in the context of a request. Two keys of the same name are different: only code that has the key
 * can read the value. Call it once, at the top of a module.
 *
 * @example
 * const greeted = contextKey<string>('greeted');
 */
export function contextKey<T>(name: string): ContextKey<T> {
  return Object.freeze({ name, symbol: Symbol(name) });
}
