/** An entity as it is stored. */
export type StoredRow = Readonly<Record<string, unknown>> & { readonly id: string };

/** One address of a target. */
export interface TargetAddress {
  readonly targetId: string;
  /** What the target names: an IP without brackets or, for SRV with `use_srv_name`, the record's own name. */
  readonly host: string;
  readonly ip: string;
  readonly port: number;
  readonly weight: number;
  /** Place in the address zone; 0: there was no room. */
  readonly slot: number;
}

/** Where the targets of an upstream are, as the control plane has found out; workers take it as it is. */
export interface UpstreamAddresses {
  readonly upstreamId: string;
  readonly upstreamName: string;
  /** The upstream's own place in the address zone. */
  readonly slot: number;
  /** In the order of the targets' age. Targets with weight 0 are there too. */
  readonly addresses: readonly TargetAddress[];
  /** Names that are being asked for and have never been known. */
  readonly pending: readonly string[];
}

/** What the control plane knows of an upstream beyond that. */
export interface WatchedUpstream extends UpstreamAddresses {
  readonly row: StoredRow;
  readonly targets: readonly WatchedTarget[];
}

export interface WatchedTarget {
  readonly row: StoredRow;
  readonly host: string;
  readonly port: number;
  /** Why its name has no address; null: it has, or it is being asked for. */
  readonly error: string | null;
}

/** Upstreams whose addresses have changed, by id, and those that are gone. */
export interface AddressChanges {
  readonly changed: readonly UpstreamAddresses[];
  readonly dropped: readonly string[];
}
