/** A data plane that is connected to this control plane, or has reported through another one. */
export interface KnownDataPlane {
  readonly id: string;
  readonly hostname: string;
  readonly ip: string;
  readonly version: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly configHash: string;
  /** Milliseconds since the epoch. */
  readonly seenAt: number;
  /** Why it gets no config; null: it gets it. */
  readonly refused: string | null;
  /** End of its certificate, milliseconds since the epoch; null: it is not connected to this control plane. */
  readonly certificateExpiry: number | null;
  /** Milliseconds until it is forgotten, unless it reports again. */
  readonly ttl: number;
}
