import type { Store } from '../store/store.ts';

/**
 * The connection between control planes and data planes.
 *
 * A data plane has no database. It opens one connection (WebSocket over mutual TLS) to one of its control planes, and uses the store
 * through it: `DataPlaneStore` is a `Store`, so everything that works with a store works there. Changes come without a request: the
 * control plane sends each batch of its change feed once to all data planes that are in the position before it.
 */

/** Settings of both ends: Kong's `cluster_*`. */
export interface HybridSettings {
  /** `shared`: both ends have the same certificate, which is pinned. `pki`: certificates are signed by `caCert`. */
  readonly mtls: 'shared' | 'pki';
  /** PEM texts. */
  readonly cert: string;
  readonly key: string;
  /** PEM text of the authorities, for `pki`; null with `shared`. */
  readonly ca: string | null;
  /** Name in the certificate of control planes, for `pki`; null: that of the address. */
  readonly serverName: string | null;
  /** Control planes in the order of preference: `cp.internal:8005`. */
  readonly controlPlanes: readonly string[];
  /** Maximum bytes of a message. */
  readonly maxPayload: number;
  /** Milliseconds for a call, and for a connection. */
  readonly timeout: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** A data plane as a control plane sees it. */
export interface ConnectedDataPlane {
  readonly id: string;
  readonly hostname: string;
  readonly ip: string;
  readonly version: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  readonly connectedAt: number;
  readonly seenAt: number;
  /** Version of the config that its workers have; -1: none yet. */
  readonly configVersion: number;
  /** End of its certificate, milliseconds since the epoch. */
  readonly certificateExpiry: number;
  /** Why it gets no config: its version is too old or too new. */
  readonly refused: string | null;
}

/** The listener of a control plane. */
export interface ControlPlaneServer {
  readonly addresses: readonly { readonly ip: string; readonly port: number }[];
  dataPlanes(): readonly ConnectedDataPlane[];
  /** New certificates from now on; connections continue. */
  setTls(settings: Pick<HybridSettings, 'cert' | 'key' | 'ca'>): void;
  close(): Promise<void>;
}

/** The store of a data plane: `kind` is `control_plane`. Every function rejects with a `StoreError` `unavailable` without a connection. */
export interface DataPlaneStore extends Store {
  /** The control plane that it is connected to: `cp.internal:8005`; null: none. */
  readonly connectedTo: string | null;
  setTls(settings: Pick<HybridSettings, 'cert' | 'key' | 'ca'>): void;
}
