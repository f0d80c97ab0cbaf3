/** One address of a name. */
export interface ResolvedAddress {
  /** IPv4, or IPv6 without brackets. */
  readonly ip: string;
  /** Port of the SRV record; null: the record has none, the caller's port applies. */
  readonly port: number | null;
  /** Weight of the SRV record, 1 or more; null: the record has none, the caller's weight applies. */
  readonly weight: number | null;
  /** The target of the SRV record (for `use_srv_name`), else the requested name. */
  readonly name: string;
}

export interface NameAnswer {
  /** Never empty. */
  readonly addresses: readonly ResolvedAddress[];
  /** Milliseconds until it should be queried again; 0 is the record's TTL, not a default. */
  readonly ttl: number;
}

/**
 * `not-found`: the server says that there is no such name, or no address of it. `failed`: no server gave a
 * usable answer (timeouts, SERVFAIL, refusals, malformed answers).
 */
export type DnsFailure = 'not-found' | 'failed';

/** Why a name has no addresses. The message is Kong's and meant for the log. */
export class DnsError extends Error {
  readonly kind: DnsFailure;

  constructor(kind: DnsFailure, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.name = 'DnsError';
    this.kind = kind;
  }
}

/** The state of a name. A frozen value: it is replaced, never changed. */
export interface NameState {
  /** Empty: the name cannot be used now, and `error` says why. */
  readonly addresses: readonly ResolvedAddress[];
  /** Text of the last refresh that failed; null: it succeeded. */
  readonly error: string | null;
  /** The kind of `error`. */
  readonly failure: DnsFailure | null;
  /** The TTL of the addresses is over, and the last refresh failed. */
  readonly stale: boolean;
  /**
   * When this is refreshed, in milliseconds since the epoch. The table does that itself; only a name that was removed
   * (`remove`, or more names than `dns_cache_size`) must then be looked up again.
   */
  readonly expires: number;
}

/** Resolves names to addresses; `DnsClient`, or a fake in tests. */
export interface NameResolver {
  /** Rejects with a `DnsError`, and with nothing else. */
  resolve(name: string): Promise<NameAnswer>;
}
