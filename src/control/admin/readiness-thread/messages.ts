/** An address that the readiness thread listens on. */
export interface ReadinessThreadAddress {
  readonly ip: string;
  readonly port: number;
  readonly backlog: number;
  readonly ipv6only: boolean;
  readonly reuseport: boolean;
  /** A descriptor of a socket that listens on the address already; null: a new socket. */
  readonly descriptor: number | null;
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

/** What the thread listens on. */
export interface ThreadSocket {
  readonly port: number;
  /** Null: not available. */
  readonly descriptor: number | null;
}

export type FromReadinessThread =
  | { readonly type: 'listening'; readonly sockets: readonly ThreadSocket[] }
  | { readonly type: 'failed'; readonly message: string };

/**
 * Stop accepting; forwarded connections continue. `hand-over`: another process accepts on the same sockets, so the node is ready for
 * as long as this process runs.
 */
export type ToReadinessThread = 'stop' | 'hand-over';
