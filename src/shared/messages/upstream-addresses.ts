/** An entity as it is stored. */
export type StoredRow = Readonly<Record<string, unknown>> & { readonly id: string };

/** One address of a target. */
export interface TargetAddress {
  readonly targetId: string;
  /** The host of the target: an IP without brackets or, for SRV with `use_srv_name`, the record's own name. */
  readonly host: string;
  readonly ip: string;
  readonly port: number;
  readonly weight: number;
  /** Slot in the address zone; 0: there was no room. */
  readonly slot: number;
}

/** The addresses of an upstream's targets, as the control plane has resolved them; workers use it unchanged. */
export interface UpstreamAddresses {
  readonly upstreamId: string;
  readonly upstreamName: string;
  /** The upstream's own slot in the address zone. */
  readonly slot: number;
  /** In the order of the targets' age. Includes targets with weight 0. */
  readonly addresses: readonly TargetAddress[];
  /** Names that are being resolved for the first time. */
  readonly pending: readonly string[];
}

/** Further state of an upstream in the control plane. */
export interface WatchedUpstream extends UpstreamAddresses {
  readonly row: StoredRow;
  readonly targets: readonly WatchedTarget[];
}

export interface WatchedTarget {
  readonly row: StoredRow;
  readonly host: string;
  readonly port: number;
  /** Why its name has no address; null: it has one, or it is being resolved. */
  readonly error: string | null;
}

/** Upstreams whose addresses have changed, by id, and those that were removed. */
export interface AddressChanges {
  readonly changed: readonly UpstreamAddresses[];
  readonly dropped: readonly string[];
}
