import type { HeaderBlock } from './reply.ts';

/**
 * The request as the client sent it. Everything is read on demand: what no plugin asks for is not parsed.
 *
 * @example
 * const page = Number(context.request.queryArgument('page') ?? 1);
 */
export interface RequestView {
  /** 32 hexadecimal digits: the same in the logs, the response and the request to the backend. */
  readonly id: string;
  readonly method: string;
  /** Scheme of the connection, or of `X-Forwarded-Proto` if the peer is trusted. */
  readonly scheme: 'http' | 'https';
  /** `Host` in lower case, without the port; '' if absent. */
  readonly host: string;
  /** Port of the listener, or of `X-Forwarded-Port` if the peer is trusted. */
  readonly port: number;
  /** The normalised path that routes are matched against; one char per byte. */
  readonly path: string;
  /** The path as sent, without the query. */
  readonly rawPath: string;
  /** The query as sent, without the question mark; '' if absent. */
  readonly query: string;
  readonly httpVersion: '1.0' | '1.1' | '2';
  /** Bytes of the body as the head declares; 0: no body; -1: unknown, there may be one. Also right for HTTP/2. */
  readonly bodyLength: number;
  /** `websocket` for a WebSocket handshake of HTTP/1.1 or HTTP/2; otherwise ''. */
  readonly upgrade: '' | 'websocket';
  /** First value of a header (any case), or null. */
  header(name: string): string | null;
  /** All values of a header (any case), in order. */
  headerValues(name: string): readonly string[];
  /** All headers: lower-case names, values in order. */
  headers(): Readonly<Record<string, readonly string[]>>;
  /** All header lines unchanged: one search in it is cheaper than several calls of `header` that find nothing. */
  block(): HeaderBlock;
  /** First value of a query argument, decoded; '' for one without a value; null if absent. */
  queryArgument(name: string): string | null;
  /** All query arguments, decoded, values in order. */
  queryArguments(): Readonly<Record<string, readonly string[]>>;
  /** Captures of a regular-expression path, by number from '1' and by name; empty if there are none. */
  uriCaptures(): Readonly<Record<string, string>>;
}

/** A consumer. `consumerView` makes it from a row of `consumers`. */
export interface ConsumerView {
  /** UUID. */
  readonly id: string;
  readonly username: string | null;
  readonly customId: string | null;
  readonly tags: readonly string[];
}

/** For a credential of the store, `credentialView` of `plugin-kit/auth` makes it. */
export interface CredentialView {
  /** UUID; null for a credential that is not in the store, such as a token. */
  readonly id: string | null;
  /** Value of `X-Credential-Identifier` for the backend; null: the header is not sent. */
  readonly identifier: string | null;
  /** The entity of the credential; absent if it is not in the store. */
  readonly source?: CredentialSource;
}

/** Allows a plugin that stores logins, such as `session`, to end them when their credential changes. */
export interface CredentialSource {
  /** Schema name of the entity: `keyauth_credentials`. */
  readonly entity: string;
  /** Digest of the row. It changes with the secret, the name and the consumer. */
  readonly version: string;
}

/** What a token or a directory says about the client. Null: it says nothing about that. */
export interface IdentityDetails {
  /** Groups that the authentication method asserts ("authenticated groups"). */
  readonly groups: readonly string[] | null;
  readonly scopes: readonly string[] | null;
  /** Verified claims of a token. */
  readonly claims: Readonly<Record<string, unknown>> | null;
}

/**
 * The client, and who it is once a plugin has authenticated it.
 *
 * @example
 * const key = client.consumer?.id ?? client.credential?.id ?? client.ip; // whose request it is, for a limit
 */
export interface ClientView {
  /** Address of the client, after `trusted_ips` and `real_ip_header`. */
  readonly ip: string;
  /** Address of the peer of the connection. */
  readonly peerIp: string;
  /** Port of the peer. */
  readonly port: number;
  /** Null: not authenticated. */
  readonly consumer: ConsumerView | null;
  /** Null: not authenticated, or anonymous. */
  readonly credential: CredentialView | null;
  /** Null: no plugin passed any to `authenticate`. */
  readonly details: IdentityDetails | null;
}

/** The route that matched. */
export interface RouteView {
  /** UUID. */
  readonly id: string;
  readonly name: string | null;
  readonly tags: readonly string[];
}

/** The service of the request. */
export interface ServiceView {
  /** UUID. */
  readonly id: string;
  readonly name: string | null;
  readonly host: string;
  readonly port: number;
  readonly protocol: string;
  readonly path: string | null;
  readonly tags: readonly string[];
}

/**
 * The client's connection to the gateway.
 *
 * @example
 * if (connection.tls === null && request.scheme === 'http') return refuse(403, 'Use HTTPS');
 */
export interface ConnectionView {
  /** Address of the gateway that the client connected to. */
  readonly localIp: string;
  /** Port of the listener, after `port_maps`. */
  readonly localPort: number;
  /** Number of this connection in its worker. */
  readonly serial: number;
  /** Requests of this connection so far, this one included. */
  readonly requests: number;
  /**
   * The certificates that the client sent, in DER, its own first; null: none. They are not verified. The gateway asks for
   * them only if a plugin declares `needs.clientCertificate`.
   */
  readonly clientCertificates: readonly Uint8Array[] | null;
  /** Null without TLS. The TLS connection of a proxy in front shows in `request.scheme` only. */
  readonly tls: { readonly version: string; readonly cipher: string } | null;
}

/**
 * A TLS client that begins a handshake.
 *
 * @example
 * certificate({ serverName, hasCertificate }: HandshakeView) {
 *   return hasCertificate ? null : (contexts.get(serverName) ?? null); // made with tls.createSecureContext
 * }
 */
export interface HandshakeView {
  /** Server name (SNI) in lower case, without a final dot; never ''. */
  readonly serverName: string;
  /** True: an SNI entity has a certificate for this name. */
  readonly hasCertificate: boolean;
  /** True: the client offers `acme-tls/1` (RFC 8737). It validates who controls the name, and sends no request. TLS 1.3 only. */
  readonly challenge: boolean;
  /** Address of the peer of the connection. */
  readonly clientIp: string;
}

/**
 * What the gateway measured of a finished request. To read it costs nothing. Times are milliseconds, with fractions.
 *
 * @example
 * if (measures.total > 1000) slow({ backend: measures.upstream, gateway: measures.gateway, tries: measures.tries });
 */
export interface RequestMeasures {
  /** Since the epoch. */
  readonly startedAt: number;
  /** From the first byte of the request to the end of the response. */
  readonly total: number;
  /** Until the first attempt, or until the response if there was none (Kong's `kong` latency). */
  readonly gateway: number;
  /** Until the first byte of a backend (Kong's `proxy` latency); -1: no backend was contacted. */
  readonly upstream: number;
  /** From that byte to the end. */
  readonly receive: number;
  /** Bytes of the request, head and body. */
  readonly bytesReceived: number;
  /** Bytes of the response, head and body. */
  readonly bytesSent: number;
  /** Status of the backend; 0: no backend responded. */
  readonly upstreamStatus: number;
  /** Number of attempts at backends. */
  readonly tries: number;
  /** The client disconnected before the response was complete. */
  readonly aborted: boolean;
}
