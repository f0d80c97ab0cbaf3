/** Zones by key (zones/zone-registry.ts) that a worker needs from now on, and those that it can release. */
export interface ZoneChanges {
  readonly added: Readonly<Record<string, SharedArrayBuffer>>;
  readonly dropped: readonly string[];
}
