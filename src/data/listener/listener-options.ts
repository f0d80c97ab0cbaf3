import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { ProxyHeaderOptions } from '../../shared/proxy-protocol/expect-proxy-header.ts';
import type { ServerPolicy } from '../../shared/settings/kinds/tls-policy.ts';
import type { ListenAddress } from '../../shared/settings/settings.ts';
import type { SocketOwner } from '../../shared/util/net/socket-owner.ts';

export interface ListenerOptions {
  readonly address: ListenAddress;
  /** Shared with other workers: the kernel distributes connections among all that listen. */
  readonly reusePort: boolean;
  /** A descriptor of a socket that listens on the address already; null: a new socket. */
  readonly descriptor: number | null;
  /** Maximum open connections. A connection above it is closed, and `refused` is called. */
  readonly maxConnections: number;
  readonly refused: () => void;
  /** PEM texts or files; needed by an address with `ssl`. */
  readonly cert: readonly string[];
  readonly key: readonly string[];
  /** What TLS clients may speak. */
  readonly policy: ServerPolicy;
  /** Keys of session tickets, shared with the other workers. */
  readonly ticketKeys: Uint8Array;
  /**
   * The certificate for the server name of a TLS client; null: the listener's own. The handshake fails when it throws.
   */
  readonly contextFor: CertificateChooser;
  /**
   * Whether some name has certificates of two key types, so that the client's abilities decide. Checked for each new
   * connection.
   */
  readonly choosesByKeyType: () => boolean;
  /**
   * A handshake failed; the reason is for the log. `own`: no certificate was available, which is not the client's
   * fault.
   */
  readonly handshakeFailed: (peerIp: string, reason: string, own: boolean) => void;
  /** Whether a plugin answers clients that speak `acme-tls/1`. */
  readonly acceptsChallenges: () => boolean;
  /** Whether a TLS client may use HTTP/2, on a listener with `http2`. Checked in its handshake. */
  readonly acceptsHttp2: (socket: Socket) => boolean;
  /** Whether TLS clients are asked for a certificate. Checked for each new connection. */
  readonly wantsClientCertificates: () => boolean;
  /** The OCSP response for a certificate (OCSP stapling; DER), for clients that request it; null: none is known. */
  readonly ocspResponse: (certificate: Uint8Array) => Uint8Array | null;
  /** Whether a route or plugin depends on the server name of TLS clients. Checked for each new connection. */
  readonly needsServerNames: () => boolean;
  /** For an address with `proxy_protocol`. */
  readonly proxyHeader: ProxyHeaderOptions;
  /** Creates the owner of a new connection; null when the socket was taken over completely (HTTP/2). */
  readonly accept: (socket: Socket, address: ListenAddress) => SocketOwner | null;
}

/**
 * `challenge`: the client speaks `acme-tls/1`; then it must get a certificate. `ecdsa`: whether it accepts an EC key.
 */
export type CertificateChooser = (
  serverName: string,
  challenge: boolean,
  ecdsa: () => boolean,
  clientIp: string,
) => SecureContext | null | Promise<SecureContext | null>;
