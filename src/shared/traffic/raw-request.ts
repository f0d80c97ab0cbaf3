/**
 * What a dry run needs to repeat one exchange: the request as the client sent it, with its secrets. It stays in the memory of the
 * control plane next to the record of the request. No API shows it, no log line contains it, and nothing writes it to a disk.
 */
export interface RawRequest {
  /** When the request began, milliseconds since the epoch. */
  readonly at: number;
  /** The fields of the parsed head, without the lines that go to the backend: they are among all lines. */
  readonly head: Readonly<Record<string, unknown>>;
  /** Numbers of the header lines that do not go there, from 0. */
  readonly withheld: readonly number[];
  readonly peerIp: string;
  readonly peerPort: number;
  readonly localIp: string;
  /** Port of the listener, after `port_maps`. */
  readonly localPort: number;
  readonly scheme: 'http' | 'https';
  /** TLS server name; '' without TLS. */
  readonly sni: string;
  /** The peer is one of `trusted_ips`. */
  readonly trusted: boolean;
  readonly tls: { readonly version: string; readonly cipher: string } | null;
  /** The certificates of the client in DER, as base64; null: it sent none. */
  readonly certificates: readonly string[] | null;
  /** Some plugin needed the certificates of clients, so that the gateway requested them. */
  readonly requested: boolean;
  /** The random number of the request (`drawOf`); -1: none was drawn. */
  readonly draw: number;
  /** Status of the backend; 0: it has not answered. */
  readonly backendStatus: number;
  /** Code of the error that the gateway answered with; null: none. */
  readonly error: string | null;
}
