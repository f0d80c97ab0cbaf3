export interface GatewayAddresses {
  readonly proxy: readonly BoundAddress[];
  readonly stream: readonly BoundStreamAddress[];
  readonly admin: readonly BoundAddress[];
  readonly status: readonly BoundAddress[];
  readonly dashboard: readonly BoundAddress[];
  /** For consumers. */
  readonly portal: readonly BoundAddress[];
  /** Of a control plane, for its data planes. */
  readonly cluster: readonly BoundAddress[];
}

/** An address that the node listens on. */
export interface BoundAddress {
  readonly ip: string;
  readonly port: number;
  readonly ssl: boolean;
}

/** An address that accepts streams. */
export interface BoundStreamAddress extends BoundAddress {
  readonly udp: boolean;
}
