import type { LimitTools } from '../plugin-sdk/limits.ts';
import { createClusterWindows } from './cluster-windows.ts';
import type { Lease, LeaseRequest } from './lease.ts';
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
      if (options.policy === 'cluster') return createClusterWindows(options, host);
      throw new Error('not there yet');
    },
    bucket: () => {
      throw new Error('not there yet');
    },
    concurrency: () => {
      throw new Error('not there yet');
    },
  };
}
