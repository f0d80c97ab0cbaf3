/** An address that the readiness thread listens on. */
export interface ReadinessThreadAddress {
  readonly ip: string;
  readonly port: number;
  readonly backlog: number;
  readonly ipv6only: boolean;
  readonly reuseport: boolean;
}

/** `workerData` of the thread. */
export interface ReadinessThreadBoot {
  readonly addresses: readonly ReadinessThreadAddress[];
  /** Socket path on which the control plane receives requests that the readiness thread does not answer. */
  readonly socketPath: string;
  /** Shared memory that readiness is read from (shared/zones/worker-vitals.ts). */
  readonly vitals: SharedArrayBuffer;
  /** Value of `Server`; null: left out. */
  readonly serverHeader: string | null;
  /** Send `X-Kong-Admin-Latency`. */
  readonly latencyHeader: boolean;
}

export type FromReadinessThread =
  | { readonly type: 'listening'; readonly ports: readonly number[] }
  | { readonly type: 'failed'; readonly message: string };

/** Stop accepting. Forwarded connections continue. */
export type ToReadinessThread = 'stop';
