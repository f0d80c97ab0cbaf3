/** One address of an upstream's target, or the address of a plain service. */
export interface RuntimeTarget {
  /** Of the target or service. */
  readonly id: string;
  /** IP without brackets, or the name that was resolved to it: for `Host`, SNI and verification. */
  readonly host: string;
  /** Null: a plain service whose name is resolved for each connection. */
  readonly ip: string | null;
  readonly port: number;
  readonly weight: number;
  /** Slot in the address zone; 0: none. */
  readonly slot: number;
}
