/** The match attributes of a route, as configured. Null or empty: does not restrict. */
export interface RoutableRoute {
  readonly id: string;
  readonly methods: readonly string[] | null;
  /** `example.com`, `example.com:8080`, `*.example.com`, `example.*`. */
  readonly hosts: readonly string[] | null;
  /** `/prefix`, or `~/regex` (anchored at the beginning). */
  readonly paths: readonly string[] | null;
  /** Header name (any case) to allowed values; one value starting with `~*` is a regular expression. */
  readonly headers: Readonly<Record<string, readonly string[]>> | null;
  readonly snis: readonly string[] | null;
  readonly regexPriority: number;
}

/** What the router needs from the request. Header values are read lazily and only for names that some route uses. */
export interface RouteQuery {
  readonly method: string;
  /** The Host header as sent, port included; '' when absent. */
  readonly host: string;
  /** The listener's port, after `port_maps`. */
  readonly port: number;
  /** The normalised path (router/path.ts), latin1: one char for each byte. */
  readonly path: string;
  readonly scheme: 'http' | 'https';
  /** TLS server name without a trailing dot, or '' (then `snis` is not checked unless the scheme is https). */
  readonly sni: string;
  /** All values of a header, in order; empty when absent. `name` is lower case with '-' for '_'. */
  headerValues(name: string): readonly string[];
  /**
   * The names of all headers sent, in the form that `headerValues` accepts; a repeated name may appear more than once.
   * Optional: read only where routes of one host and path use more than 8 different headers, so that the cost depends
   * on the headers sent and not on the routes.
   */
  headerNames?(): readonly string[];
}

/** Filled in by `match`, so that a match allocates nothing. */
export interface RouteMatch<R extends RoutableRoute> {
  route: R | null;
  /** The matched path text: the prefix, or the whole match of a regular expression; '' when the route has no paths. */
  matchedPath: string;
  /** Captures of a regular-expression path, or null. Named groups are under `groups`. */
  captures: RegExpExecArray | null;
}

/** Routes ordered by Kong's priority rules (traditional_compatible); the first that matches wins. */
export interface Router<R extends RoutableRoute> {
  /**
   * Adds the route, or replaces the one of that id. Throws an `Error` with a clear message when it cannot be compiled;
   * then the existing one of that id stays unchanged.
   */
  upsert(route: R): void;
  remove(id: string): void;
  readonly size: number;
  /** True when a route matched; then `into` is filled. Never throws. */
  match(query: RouteQuery, into: RouteMatch<R>): boolean;
}
