/** An answer made by the gateway instead of the backend. Made with `reply()` or `refuse()`, never by hand. */
export interface Reply {
  readonly status: number;
  /** Name and value pairs, in order. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | Uint8Array | null;
  /** Set: the body is Kong's error template with this message, in the format that the client accepts. */
  readonly message: string | null;
  /**
   * Media type of a `message` for a client without an `Accept` header. `wire`: the request's own media type, else
   * `error_default_type`, as for backend errors. Default: JSON.
   */
  readonly format?: 'wire';
  /** Set: it takes the way of a backend's answer. */
  readonly backend?: BackendReply;
}

/** Header lines as one latin1 string, `Name: value` and CRLF each. */
export type HeaderBlock = string & { readonly headerBlock?: never };

export interface BackendReply {
  /** Lines in the place of `headers`; they must be valid ones. */
  readonly block: HeaderBlock | null;
  /** It was made just now: `backendAnswer` of plugins may keep it. False: it comes out of a store. */
  readonly fresh: boolean;
}

export interface ReplyOptions {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is. `Content-Type` is the caller's. */
  readonly body?: string | Uint8Array;
}

/** A fixed answer. */
export function reply(options: ReplyOptions): Reply {
  return {
    status: options.status,
    headers: Object.entries(options.headers ?? {}),
    body: options.body ?? null,
    message: null,
  };
}

/** A JSON answer: Kong's compact form, `application/json; charset=utf-8`. */
export function replyJson(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return {
    status,
    headers: [['Content-Type', 'application/json; charset=utf-8'], ...Object.entries(headers)],
    body: JSON.stringify(value),
    message: null,
  };
}

/**
 * A refusal with Kong's error template (`message` and `request_id`) in the format that the client accepts. A list of pairs
 * can name a header more than once.
 */
export function refuse(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> | readonly (readonly [string, string])[] = {},
): Reply {
  return { status, headers: Array.isArray(headers) ? headers : Object.entries(headers), body: null, message };
}

export interface BackendReplyOptions extends Omit<ReplyOptions, 'headers'> {
  /** Pairs, or lines that have been read with `response.block()`. Those that frame a message are left out. */
  readonly headers?: readonly (readonly [string, string])[] | HeaderBlock;
  readonly fresh: boolean;
}

/**
 * An answer in the place of the backend's. What plugins do to a backend's answer they do to this one: transforms, masks, header
 * filters. Without a body for HEAD and for a status that has none, whatever is given.
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
