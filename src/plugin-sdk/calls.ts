/** A request that a plugin sends to a backend in the course of another one. */
export interface BackendCall {
  /** Id or name of a service, or a URL `http(s)://host[:port]` whose path, if any, goes before `path`. Default: the request's own service. */
  readonly to?: { readonly service: string } | { readonly url: string };
  /** Default: GET. */
  readonly method?: string;
  /**
   * Path without a query, as in `UpstreamRequestEdit.setPath`; the path of the service goes before it. Default: the path that the
   * request itself would have.
   */
  readonly path?: string;
  /** Without the question mark. Default: the request's own when `path` is not given either, else none. */
  readonly query?: string;
  /**
   * Names, in lower case, of the client's headers to send along; `all`: every one that the backend would get. Who the client is
   * (`X-Consumer-*`) and where it comes from (`X-Forwarded-*`) is always told. Default: none.
   */
  readonly pass?: ReadonlySet<string> | 'all';
  /** Set in the place of what was passed. */
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: Uint8Array;
  /** Milliseconds for the whole call, all attempts included. */
  readonly timeout: number;
  /** Largest body of the answer, in bytes. */
  readonly maxBytes: number;
  /** The answer is as the backend sent it, whatever its content coding. Default: a coding that the gateway knows is taken off. */
  readonly keepCoding?: boolean;
  /** The call goes on when the client's request is over. Default: it is given up then. */
  readonly detached?: boolean;
}

/** A whole answer. A content coding that the gateway knows has been taken off, unless the call says otherwise. */
export interface BackendAnswer {
  readonly status: number;
  /** First value of a header (any case), or null. */
  header(name: string): string | null;
  headerValues(name: string): readonly string[];
  headers(): Readonly<Record<string, readonly string[]>>;
  /** All header lines, in their order, without those that frame the message. */
  block(): string;
  readonly body: Uint8Array;
}

/** Why a call has no answer. `no-service`: there is no such service. `stopped`: the client's request is over. */
export type CallFailure =
  | 'unreachable'
  | 'timeout'
  | 'no-target'
  | 'bad-answer'
  | 'too-large'
  | 'no-service'
  | 'stopped';

export class CallFailed extends Error {
  readonly reason: CallFailure;
  /** What the gateway would answer: 502, 503 or 504. */
  readonly status: number;

  constructor(reason: CallFailure, status: number, message: string) {
    super(message);
    this.name = 'CallFailed';
    this.reason = reason;
    this.status = status;
  }
}
