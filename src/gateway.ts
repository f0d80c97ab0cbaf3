import type { Settings } from './settings/settings.ts';

/** An address that the node listens on. */
export interface BoundAddress {
  readonly ip: string;
  readonly port: number;
  readonly ssl: boolean;
}

export interface GatewayAddresses {
  readonly proxy: readonly BoundAddress[];
  readonly admin: readonly BoundAddress[];
  readonly status: readonly BoundAddress[];
}

/** A running node. */
export interface Gateway {
  readonly addresses: GatewayAddresses;
  /**
   * Ends the node; resolves when every listener, worker and the store are closed. Graceful: no new connections, requests
   * in flight get `drainTimeout`. A second call that is not graceful cuts a graceful one short.
   */
  stop(graceful: boolean): Promise<void>;
  /** Opens the log files again, after they were moved away. */
  reopenLogs(): void;
}
