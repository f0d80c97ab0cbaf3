/** A response that a plugin gives instead of the backend. Made with `reply`, `replyJson`, `refuse` or `backendReply`. */
export interface Reply {
  readonly status: number;
  /** Name and value pairs, in order. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | Uint8Array | null;
  /** Not null: the body is Kong's error template with this message, in a format that the client accepts. */
  readonly message: string | null;
  /**
   * Media type of `message` for a client without an `Accept` header. `wire`: that of the request, otherwise
   * `error_default_type`, as for errors of backends. Default: JSON.
   */
  readonly format?: 'wire';
  /** Set: the reply is handled like a response of a backend. */
  readonly backend?: BackendReply;
}

/** Header lines as one latin1 string: `Name: value` and CRLF each. */
export type HeaderBlock = string & { readonly headerBlock?: never };

/** How a reply of `backendReply` is handled. */
export interface BackendReply {
  /** Valid header lines instead of `headers`; null: none. */
  readonly block: HeaderBlock | null;
  /** True: it was made now, so `backendAnswer` of other plugins may store it. False: it comes from a cache. */
  readonly fresh: boolean;
}

/** For `reply`. */
export interface ReplyOptions {
  /** From 200 to 599. */
  readonly status: number;
  /** Default: none. The gateway adds `Content-Length`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent unchanged; set a `Content-Type` with it. Default: none. */
  readonly body?: string | Uint8Array;
}

/**
 * A reply that is sent as it stands.
 *
 * @example
 * return reply({ status: 200, headers: { 'Content-Type': 'text/plain' }, body: 'pong' });
 */
export function reply(options: ReplyOptions): Reply {
  return {
    status: options.status,
    headers: Object.entries(options.headers ?? {}),
    body: options.body ?? null,
    message: null,
  };
}

/**
 * A reply of the type `application/json; charset=utf-8`.
 *
 * @param value What `JSON.stringify` accepts.
 *
 * @example
 * return replyJson(201, { id });
 */
export function replyJson(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return {
    status,
    headers: [['Content-Type', 'application/json; charset=utf-8'], ...Object.entries(headers)],
    body: JSON.stringify(value),
    message: null,
  };
}

/**
 * An error reply with Kong's template (`message` and `request_id`), in a format that the client accepts.
 *
 * @param message Shown to the client.
 * @param headers Use a list of pairs for several headers of one name.
 *
 * @example
 * return refuse(401, 'Unauthorized', { 'WWW-Authenticate': 'Key' });
 */
export function refuse(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> | readonly (readonly [string, string])[] = {},
): Reply {
  return { status, headers: Array.isArray(headers) ? headers : Object.entries(headers), body: null, message };
}

/** For `backendReply`. */
export interface BackendReplyOptions extends Omit<ReplyOptions, 'headers'> {
  /** Pairs, or the lines of `response.block()`. Those that frame a message are left out. Default: none. */
  readonly headers?: readonly (readonly [string, string])[] | HeaderBlock;
  /** False: it comes from a cache, so no plugin stores it again. */
  readonly fresh: boolean;
}

/**
 * A reply that is handled like a response of a backend: `response`, header filters and body filters of all plugins see it, so
 * it is transformed, masked and compressed as usual. For `HEAD` and statuses without a body, the body is left out.
 *
 * @example
 * const { status, headers, body } = cached;
 * return backendReply({ status, headers, body, fresh: false });
 */
export function backendReply({ status, headers = [], body, fresh }: BackendReplyOptions): Reply {
  const block = typeof headers === 'string' ? headers : null;
  return {
    status,
    headers: typeof headers === 'string' ? [] : headers,
    body: body ?? null,
    message: null,
    backend: { block, fresh },
  };
}
