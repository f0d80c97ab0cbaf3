/** An address that the front listens on. */
export interface FrontAddress {
  readonly ip: string;
  readonly port: number;
  readonly backlog: number;
  readonly ipv6only: boolean;
  readonly reuseport: boolean;
}

/** `workerData` of the thread. */
export interface FrontBoot {
  readonly addresses: readonly FrontAddress[];
  /** Socket path on which the control plane receives requests that the front does not answer. */
  readonly socketPath: string;
  /** Shared memory that readiness is read from (zones/worker-vitals.ts). */
  readonly vitals: SharedArrayBuffer;
  /** Value of `Server`; null: left out. */
  readonly serverHeader: string | null;
  /** Send `X-Kong-Admin-Latency`. */
  readonly latencyHeader: boolean;
}

export type FromFront =
  | { readonly type: 'listening'; readonly ports: readonly number[] }
  | { readonly type: 'failed'; readonly message: string };

/** Stop accepting. Forwarded connections continue. */
export type ToFront = 'stop';
