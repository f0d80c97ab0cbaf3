import type { AttemptWatcher, RetryPolicy, UpstreamTimeouts } from './attempts.ts';

/**
 * The request that the backend will receive, and the way to it. A name or value with a control character throws an Error, and
 * so does setting a header that frames the message (`framingHeaders`).
 *
 * @example
 * context.upstream.setHeader('X-User', consumer.id);
 * context.upstream.setPathInService('/v2/items');
 * context.upstream.setTimeouts({ firstByte: 500 });
 */
export interface UpstreamRequestEdit {
  /**
   * Changes of method, path, query, service and upstream so far, as one text; '' if there are none. Equal texts mean equal
   * changes, so a cache can use it in its key.
   */
  readonly changes: string;
  /**
   * All values of a header (any case) as the backend would receive it now, identity headers and changes of plugins included.
   * Not for `Host` and the forwarding headers, which are written later.
   */
  headerValues(name: string): readonly string[];
  /** The query as the backend would receive it now, without the question mark; '' if there is none. */
  query(): string;
  /** Replaces all values of the header. */
  setHeader(name: string, value: string): void;
  /**
   * `setHeader` for a name that no client sends: the client's headers are not searched for it, which halves the cost. Values
   * that plugins have set are replaced.
   */
  setAbsentHeader(name: string, value: string): void;
  /** Adds a value. Throws for `Host`. */
  addHeader(name: string, value: string): void;
  /** Does nothing to `Host` and to headers that frame the message. */
  removeHeader(name: string): void;
  /** @throws Error for `CONNECT` and for what is no method: upper-case letters first, at most 32 characters. */
  setMethod(method: string): void;
  /**
   * Sets the whole path, without a query; one char per byte, like `request.path`. Characters that must not stand in a path are
   * escaped, `?` and `#` too; existing escapes stay.
   *
   * @throws Error for a path that does not begin with a slash.
   */
  setPath(path: string): void;
  /** The path below that of the service: what `strip_path` leaves of the client's, or what a plugin has set. */
  readonly pathInService: string;
  /**
   * `setPath` below the path of the service that receives the request, whichever plugin chooses it. Of `setPath` and
   * `setPathInService`, the last call applies.
   */
  setPathInService(path: string): void;
  /** Sets the query, without the question mark. Characters that must not stand in a query are escaped. */
  setQuery(query: string): void;
  /** Removes the query arguments with these decoded names; all other bytes of the query stay unchanged. */
  removeQueryArguments(names: ReadonlySet<string>): void;
  /**
   * Replaces the body for plugins that run later and for the backend; `Content-Length` follows.
   *
   * @throws Error unless the body has been read with `context.body()`, or there is none.
   */
  setBody(body: Uint8Array): void;
  /** Sets timeouts of backends; the others stay as the service or an earlier plugin has them. */
  setTimeouts(timeouts: Partial<UpstreamTimeouts>): void;
  /** Replaces the service's `retries`. The last call applies. */
  setRetries(policy: RetryPolicy): void;
  /** Adds a watcher of this request's attempts. */
  watchAttempts(watcher: AttemptWatcher): void;
  /** Sends the request to the targets of this upstream instead of the service's. False: there is no such upstream. */
  setUpstream(name: string): boolean;
  /** Sends the request to another service, by id or name: its address, protocol, path, TLS and timeouts. False: there is none. */
  setService(idOrName: string): boolean;
  /** Removes the cookies of these names and the parts of large ones (`name_2` to `name_9`); other cookies stay. */
  removeCookies(names: readonly string[]): void;
}
