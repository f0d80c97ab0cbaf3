/**
 * A request that a plugin sends to a backend while it handles another one: see `AccessContext.call`.
 *
 * @example
 * const { status, body } = await context.call({
 *   to: { service: 'users' },
 *   path: `/users/${encodeURIComponent(id)}`,
 *   pass: new Set(['accept-language']),
 *   timeout: 2000,
 *   maxBytes: 1_000_000,
 * });
 */
export interface BackendCall {
  /**
   * A service by id or name, or a URL `http(s)://host[:port]`. A path in the URL precedes `path`. Default: the service of the
   * request.
   */
  readonly to?: { readonly service: string } | { readonly url: string };
  /** Default: GET. */
  readonly method?: string;
  /**
   * Without a query, in the form of `UpstreamRequestEdit.setPath`. The path of the service precedes it. Default: the path that
   * the request itself would have.
   */
  readonly path?: string;
  /** Without the question mark. Default: that of the request if `path` has its default, too; otherwise none. */
  readonly query?: string;
  /**
   * Lower-case names of the client's headers to send; `all`: every header that the backend would receive. `X-Consumer-*` and
   * `X-Forwarded-*` are always sent. Default: none.
   */
  readonly pass?: ReadonlySet<string> | 'all';
  /** Replace headers of the same name that were passed. Default: none. */
  readonly headers?: readonly (readonly [string, string])[];
  /** Default: none. */
  readonly body?: Uint8Array;
  /** Milliseconds for the whole call, all attempts included. */
  readonly timeout: number;
  /** Maximum size of the response body, in bytes. */
  readonly maxBytes: number;
  /** True: the body keeps its content coding. Default: false, which decodes gzip, deflate, br and zstd. */
  readonly keepCoding?: boolean;
  /** True: the call continues when the client's request ends. Default: false, which aborts it. */
  readonly detached?: boolean;
}

/** The whole response to a `BackendCall`, whatever its status. */
export interface BackendAnswer {
  readonly status: number;
  /** First value of a header (any case), or null. */
  header(name: string): string | null;
  /** All values of a header (any case), in order. */
  headerValues(name: string): readonly string[];
  /** All headers: lower-case names, values in order. */
  headers(): Readonly<Record<string, readonly string[]>>;
  /** The header lines in their order, each with CRLF, without those that frame the message. */
  block(): string;
  /** Decoded unless `keepCoding` is set. */
  readonly body: Uint8Array;
}

/**
 * Why a call has no response. `no-target`: no address of the service is healthy. `bad-answer`: it is not valid HTTP, or
 * incomplete. `no-service`: there is no such service. `stopped`: the client's request ended.
 */
export type CallFailure =
  | 'unreachable'
  | 'timeout'
  | 'no-target'
  | 'bad-answer'
  | 'too-large'
  | 'no-service'
  | 'stopped';

/** Rejection of a `BackendCall`. */
export class CallFailed extends Error {
  readonly reason: CallFailure;
  /** What the gateway would answer a client with: 502, 503 or 504. */
  readonly status: number;

  constructor(reason: CallFailure, status: number, message: string) {
    super(message);
    this.name = 'CallFailed';
    this.reason = reason;
    this.status = status;
  }
}
