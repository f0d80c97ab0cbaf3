import type { AttemptWatcher, RetryPolicy, UpstreamTimeouts } from './attempts.ts';

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
