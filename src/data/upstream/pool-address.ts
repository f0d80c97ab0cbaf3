import type { UpstreamTls } from '../snapshot/runtime.ts';

/** The destination of a pool's connections. */
export interface PoolAddress {
  readonly ip: string;
  readonly port: number;
  readonly tls: UpstreamTls | null;
  /** Name for SNI and certificate verification; '' without TLS. */
  readonly serverName: string;
}
