import { ZoneCircuits } from '../balancer/circuit/zone-circuits.ts';
import type { LimitTools } from '../plugin-sdk/limits.ts';
import { ZoneTable } from '../zones/zone-table.ts';
import { createClusterWindows } from './cluster-windows.ts';
import { Concurrency } from './concurrency.ts';
import { LeakyBucket } from './leaky-bucket.ts';
import type { Lease, LeaseRequest } from './lease.ts';
import { LocalWindows } from './local-windows.ts';
import { createSyncedWindows } from './redis/synced-windows.ts';
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

const tables = new WeakMap<SharedArrayBuffer, ZoneTable>();

export function createLimitTools(host: LimitHost): LimitTools {
  const tableOf = (name: string): ZoneTable => {
    const memory = host.zone(name);
    const table = tables.get(memory) ?? new ZoneTable(memory, host.worker);
    tables.set(memory, table);
    return table;
  };
  return {
    windows(options) {
      const { policy, whenAway, syncRate = -1 } = options;
      const local = () => new LocalWindows(tableOf(options.zone), options);
      if (policy === 'local') return local();
      if (policy === 'cluster') return createClusterWindows(options, host, whenAway === 'local' ? local() : null);
      if (syncRate > 0) return createSyncedWindows(options, local(), tableOf(options.zone).identity);
      return createRedisWindows(options);
    },
    bucket: (options) => new LeakyBucket(tableOf(options.zone), options),
    concurrency: (options) => new Concurrency(tableOf(options.zone), host.worker, options),
    circuits: (options) => new ZoneCircuits(tableOf(options.zone), options),
  };
}
