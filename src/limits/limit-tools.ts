import type { LimitTools } from '../plugin-sdk/limits.ts';

/** What limiters need of the worker that they run in. */
export interface LimitHost {
  /** Number of the worker, from 0. */
  readonly worker: number;
  /** Memory of a zone of the plugin. */
  zone(name: string): SharedArrayBuffer;
  /** Asks the control plane for quotas of counters in the relational store. */
  lease(requests: readonly LeaseRequest[]): Promise<readonly Lease[]>;
}

/** A wish for a share of what may be taken from one counter. */
export interface LeaseRequest {
  readonly key: string;
  /** Milliseconds since the epoch: when the period began, and when the counter can be forgotten. */
  readonly windowStart: number;
  readonly expiresAt: number;
  readonly limit: number;
  /** Granted whole, in part, or not at all; negative: gives a part of an earlier grant back. */
  readonly wanted: number;
  /** True: granted even beyond the limit. */
  readonly force: boolean;
}

export interface Lease {
  readonly granted: number;
  /** Taken by all nodes from this counter, this grant included. */
  readonly used: number;
}

export function createLimitTools(_host: LimitHost): LimitTools {
  throw new Error('not there yet');
}
