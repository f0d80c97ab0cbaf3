import type { Socket } from 'node:net';
import type { UpstreamTls } from '../snapshot/runtime.ts';

/** The destination of a pool's connections. */
export interface PoolAddress {
  readonly ip: string;
  readonly port: number;
  readonly tls: UpstreamTls | null;
  /** Name for SNI and certificate verification; '' without TLS. */
  readonly serverName: string;
}

/** Starts a connection that does not use the network; `connect` is emitted when it can be used, with TLS as without. */
export type OpenBackend = (address: PoolAddress, protocol: 'http/1.1' | 'h2') => Socket;
