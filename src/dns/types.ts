/** One address of a name. */
export interface ResolvedAddress {
  /** IPv4, or IPv6 without brackets. */
  readonly ip: string;
  /** Of the SRV record; null: the record names none, the asker's own port counts. */
  readonly port: number | null;
  /** Of the SRV record, 1 or more; null: the record has none, the asker's own weight counts. */
  readonly weight: number | null;
  /** The target of the SRV record (for `use_srv_name`), else the name that was asked for. */
  readonly name: string;
}

export interface NameAnswer {
  /** Never empty. */
  readonly addresses: readonly ResolvedAddress[];
  /** Milliseconds until it should be asked for again; 0 is what the record says, not a default. */
  readonly ttl: number;
}

/**
 * `not-found`: the server says that there is no such name, or no address of it. `failed`: nobody could tell
 * (time-outs, SERVFAIL, refusals, answers that make no sense).
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

/** What is known of a name. A frozen value: it is replaced, never changed. */
export interface NameState {
  /** Empty: the name cannot be used now, and `error` says why. */
  readonly addresses: readonly ResolvedAddress[];
  /** Text of the last refresh that failed; null: it succeeded. */
  readonly error: string | null;
  /** The kind of `error`. */
  readonly failure: DnsFailure | null;
  /** The addresses are past their time, and the last refresh failed. */
  readonly stale: boolean;
  /**
   * When this is looked at again, in milliseconds of the epoch. The table does that by itself; only a name that the
   * table has forgotten (`forget`, or more names than `dns_cache_size`) must then be asked for anew.
   */
  readonly expires: number;
}

/** What turns names into addresses; `DnsClient`, or a fake in tests. */
export interface NameResolver {
  /** Rejects with a `DnsError`, and with nothing else. */
  resolve(name: string): Promise<NameAnswer>;
}
