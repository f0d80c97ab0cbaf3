import type { TLSSocket } from 'node:tls';
import type { DownstreamPeer } from '../request/exchange.ts';
import { SocketPeer } from '../request/socket-peer.ts';

/** A client of another server in this thread. Use the same object for all requests of one connection. */
export interface OutsideClient {
  /** IP addresses in canonical form. */
  readonly ip: string;
  readonly port: number;
  readonly localIp: string;
  readonly localPort: number;
  readonly scheme: 'http' | 'https';
  /** The client's TLS connection, where that server has one; null: none, or unknown. */
  readonly tls: TLSSocket | null;
}

/** A request that another server in this thread has received. */
export interface OutsideRequest {
  /** Request line and header lines as HTTP/1.1 has them, one character for each byte, ended by an empty line. */
  readonly head: string;
  readonly client: OutsideClient;
}

/** The head of an answer, for another server. */
export interface OutsideAnswerHead {
  readonly status: number;
  /** The backend's reason phrase; '' for the usual one. */
  readonly reason: string;
  /** Header lines without framing, `Name: value\r\n` each, one character for each byte. */
  readonly lines: string;
  /** For the header `Content-Length`; -1: none. */
  readonly contentLength: number;
  /** Whether a body may follow. */
  readonly hasBody: boolean;
}

/** What another server does with the answer, and with the body of its request. */
export interface OutsideAnswer {
  head(head: OutsideAnswerHead): void;
  /** The bytes are valid only during the call. False: call `drained` when more can be taken. */
  body(bytes: Uint8Array, start: number, end: number): boolean;
  /** `trailers`: lines as in the head. */
  end(trailers: string): void;
  /** Nothing follows for now: what is buffered should leave. */
  flush(): void;
  /** The answer ends incomplete, and the client must see that. */
  abort(): void;
  /** Pass on the body of the request from now on, with `received`. */
  readBody(): void;
  pauseBody(): void;
}

type Shared = Pick<DownstreamPeer, 'trusted' | 'serial' | 'calls' | 'bodies'>;

export function outsidePeer(client: OutsideClient, shared: Shared): DownstreamPeer {
  const addresses = { peerIp: client.ip, peerPort: client.port, localIp: client.localIp, localPort: client.localPort };
  const peer = new SocketPeer(client.tls, { ...addresses, ...shared });
  if (client.tls === null && client.scheme === 'https') Object.defineProperty(peer, 'scheme', { value: 'https' });
  return peer;
}
