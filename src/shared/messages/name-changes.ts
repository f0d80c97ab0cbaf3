/** One address of a name; port and weight are those of SRV records. */
export interface NameAddress {
  readonly ip: string;
  readonly port: number | null;
  readonly weight: number | null;
  readonly name: string;
}

/** The answer of the control plane to a name lookup. */
export interface NameAnswer {
  readonly addresses: readonly NameAddress[];
  /** Why there are no addresses; null: there are some. */
  readonly error: string | null;
}

/** Names whose addresses have changed; null: the name is no longer watched. */
export type NameChanges = Readonly<Record<string, readonly NameAddress[] | null>>;
