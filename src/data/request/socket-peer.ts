import type { TLSSocket } from 'node:tls';
import type { DownstreamPeer } from './exchange.ts';

export type PeerAddresses = Pick<
  DownstreamPeer,
  'peerIp' | 'peerPort' | 'localIp' | 'localPort' | 'trusted' | 'serial' | 'calls' | 'bodies'
>;

/** Maximum certificates of a chain: a client may send any number. */
const maxChainLength = 10;

/** The other end of a client's connection. */
export class SocketPeer implements DownstreamPeer {
  readonly peerIp: string;
  readonly peerPort: number;
  readonly localIp: string;
  readonly localPort: number;
  readonly scheme: 'http' | 'https';
  readonly sni: string;
  readonly trusted: boolean;
  readonly serial: number;
  readonly tls: DownstreamPeer['tls'];
  readonly calls: DownstreamPeer['calls'];
  readonly bodies: DownstreamPeer['bodies'];
  requests = 0;
  lines = '';
  linesHost = '';
  logged: DownstreamPeer['logged'] = null;
  recorded: DownstreamPeer['recorded'] = null;
  readonly #socket: TLSSocket | null;
  #certificates: readonly Uint8Array[] | null = null;
  #read = false;

  /** `socket`: the one over TLS, or null. */
  constructor(socket: TLSSocket | null, addresses: PeerAddresses) {
    this.peerIp = addresses.peerIp;
    this.peerPort = addresses.peerPort;
    this.localIp = addresses.localIp;
    this.localPort = addresses.localPort;
    this.scheme = socket === null ? 'http' : 'https';
    this.sni = serverName(socket);
    this.trusted = addresses.trusted;
    this.serial = addresses.serial;
    this.calls = addresses.calls;
    this.bodies = addresses.bodies;
    this.tls = socket === null ? null : { version: socket.getProtocol() ?? '', cipher: socket.getCipher()?.name ?? '' };
    this.#socket = socket;
  }

  /** The same array for all requests of the connection. Read from the socket at its first use. */
  get clientCertificates(): readonly Uint8Array[] | null {
    if (!this.#read) {
      this.#read = true;
      this.#certificates = this.#socket === null ? null : certificatesOf(this.#socket);
    }
    return this.#certificates;
  }
}

function certificatesOf(socket: TLSSocket): readonly Uint8Array[] | null {
  const chain: Uint8Array[] = [];
  let certificate = socket.getPeerX509Certificate();
  while (certificate !== undefined && chain.length < maxChainLength) {
    chain.push(certificate.raw);
    certificate = certificate.issuerCertificate;
  }
  return chain.length === 0 ? null : chain;
}

function serverName(socket: TLSSocket | null): string {
  const name = (socket as { readonly servername?: string | false | null } | null)?.servername;
  return typeof name === 'string' ? name.toLowerCase().replace(/\.$/, '') : '';
}
