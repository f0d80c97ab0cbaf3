import type { LimitTools } from '../plugin-sdk/limits.ts';
import { createClusterWindows } from './cluster-windows.ts';
import type { Lease, LeaseRequest } from './lease.ts';
import { createLocalBucket } from './local-buckets.ts';
import { createLocalConcurrency } from './local-concurrency.ts';
import { createLocalWindows } from './local-windows.ts';
import { createRedisWindows } from './redis-windows.ts';

export type { Lease, LeaseRequest };

/** What limiters need of the worker that they run in. */
export interface LimitHost {
  /** Number of the worker, from 0. */
  readonly worker: number;
  /** Memory of a zone of the plugin. */
  zone(name: string): SharedArrayBuffer;
  /** Asks the control plane for quotas of counters in the relational store. */
  lease(requests: readonly LeaseRequest[]): Promise<readonly Lease[]>;
}

export function createLimitTools(host: LimitHost): LimitTools {
  return {
    windows(options) {
      if (options.policy === 'redis') return createRedisWindows(options, host);
      if (options.policy === 'local') return createLocalWindows(options, host);
      const local = options.whenAway === 'local' ? createLocalWindows(options, host) : null;
      return createClusterWindows(options, host, local);
    },
    bucket: (options) => createLocalBucket(options, host),
    concurrency: (options) => createLocalConcurrency(options, host),
  };
}
