import type { HeaderBlock } from './reply.ts';

/** The request as the client sent it. Reads are lazy; nothing is parsed that no plugin asks for. */
export interface RequestView {
  /** 32 hexadecimal digits, the same in the log, the answer and the upstream request. */
  readonly id: string;
  readonly method: string;
  /** The client's scheme: of the connection, or `X-Forwarded-Proto` when the peer is trusted. */
  readonly scheme: 'http' | 'https';
  /** Host header in lower case, without the port; '' when absent. */
  readonly host: string;
  /** Port of the listener, or of `X-Forwarded-Port` when the peer is trusted. */
  readonly port: number;
  /** The normalised path that routes are matched against, one char for each byte. */
  readonly path: string;
  /** The path as sent, without the query. */
  readonly rawPath: string;
  /** The query as sent, without the question mark; '' when absent. */
  readonly query: string;
  readonly httpVersion: '1.0' | '1.1' | '2';
  /** Bytes of the body as the head tells them; -1: there may be one, of unknown length; 0: there is none. HTTP/2 needs no header for any of them. */
  readonly bodyLength: number;
  /** `websocket` for the opening handshake of one, by HTTP/1.1 or HTTP/2; else ''. No other protocol is changed to. */
  readonly upgrade: '' | 'websocket';
  /** First value of a header (any case), or null. */
  header(name: string): string | null;
  /** All values of a header, in order. */
  headerValues(name: string): readonly string[];
  /** All headers: lower-case names, values in order. */
  headers(): Readonly<Record<string, readonly string[]>>;
  /** All header lines as they came: cheap to search for what hardly any request has. */
  block(): HeaderBlock;
  /** First value of a query argument, decoded; '' for one without a value; null when absent. */
  queryArgument(name: string): string | null;
  queryArguments(): Readonly<Record<string, readonly string[]>>;
  /** Captures of a regular-expression path: by number from '1', and by name. Empty when there are none. */
  uriCaptures(): Readonly<Record<string, string>>;
}

export interface ConsumerView {
  readonly id: string;
  readonly username: string | null;
  readonly customId: string | null;
  readonly tags: readonly string[];
}

export interface CredentialView {
  readonly id: string | null;
  /** What `X-Credential-Identifier` shows; null when there is none. */
  readonly identifier: string | null;
  /** The credential's stored entity; absent when it is not in the store. Set by `credentialView`. */
  readonly source?: CredentialSource;
}

/** Lets a plugin that stores logins, such as `session`, end them together with their credential. */
export interface CredentialSource {
  /** Schema name of the entity: `keyauth_credentials`. */
  readonly entity: string;
  /** Digest of the row: it changes with the secret, the name and the consumer. */
  readonly version: string;
}

/** What a token or directory told of the client beside who it is. */
export interface IdentityDetails {
  /** Groups that the authentication method vouches for ("authenticated groups"); null: it names none. */
  readonly groups: readonly string[] | null;
  readonly scopes: readonly string[] | null;
  /** Verified claims of a token. */
  readonly claims: Readonly<Record<string, unknown>> | null;
}

export interface ClientView {
  /** The client's address, after `trusted_ips` and `real_ip_header`. */
  readonly ip: string;
  /** The address of the connection's other end. */
  readonly peerIp: string;
  readonly port: number;
  readonly consumer: ConsumerView | null;
  readonly credential: CredentialView | null;
  /** Null until a plugin authenticated the client and knew more of it. */
  readonly details: IdentityDetails | null;
}

export interface RouteView {
  readonly id: string;
  readonly name: string | null;
  readonly tags: readonly string[];
}

export interface ServiceView {
  readonly id: string;
  readonly name: string | null;
  readonly host: string;
  readonly port: number;
  readonly protocol: string;
  readonly path: string | null;
  readonly tags: readonly string[];
}

/** The client's connection to the gateway. */
export interface ConnectionView {
  readonly localIp: string;
  /** Port of the listener, after `port_maps`. */
  readonly localPort: number;
  /** Number of this connection in its worker. */
  readonly serial: number;
  /** Requests begun on this connection, this one included. */
  readonly requests: number;
  /**
   * The certificates that the client showed, DER, its own first; null when it showed none. They are not verified. Asked
   * for only when a plugin declares `needs.clientCertificate`.
   */
  readonly clientCertificates: readonly Uint8Array[] | null;
  /** Null without TLS. What a proxy in front says of its own connection shows in `request.scheme` only. */
  readonly tls: { readonly version: string; readonly cipher: string } | null;
}

/** A TLS client that begins a handshake. */
export interface HandshakeView {
  /** The name that the client asks for (SNI), in lower case and without a dot at its end; never ''. */
  readonly serverName: string;
  /** An SNI entity names a certificate for it. */
  readonly hasCertificate: boolean;
  /** The client speaks `acme-tls/1` (RFC 8737): it checks who controls the name, and sends no request. TLS 1.3 only. */
  readonly challenge: boolean;
  /** The address that the connection comes from. */
  readonly clientIp: string;
}

/** What was measured of a finished request; reading it costs nothing. Times are milliseconds, with fractions. */
export interface RequestMeasures {
  /** Since the epoch. */
  readonly startedAt: number;
  /** From the first byte of the request to the end of the answer. */
  readonly total: number;
  /** Until a backend was first asked, or until the answer when none was (Kong's `kong` latency). */
  readonly gateway: number;
  /** Until a backend's first byte (Kong's `proxy` latency); -1: none was asked. */
  readonly upstream: number;
  /** From that byte to the end. */
  readonly receive: number;
  /** Heads and bodies, as in the log record. */
  readonly bytesReceived: number;
  readonly bytesSent: number;
  /** What the backend answered; 0: none did. */
  readonly upstreamStatus: number;
  /** Attempts made at backends. */
  readonly tries: number;
  /** The client went away before the answer was complete. */
  readonly aborted: boolean;
}
