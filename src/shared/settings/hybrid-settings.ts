/** What a node does: both, or one of the two, with a connection between them. */
export type Role = 'traditional' | 'control_plane' | 'data_plane';

/** Settings of both ends of the connection between control planes and data planes: Kong's `cluster_*`. */
export interface HybridSettings {
  /** `shared`: both ends have the same certificate, which is pinned. `pki`: certificates are signed by `ca`. */
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
