import type { LimitTools } from '../../plugin-sdk/limits.ts';
import { ZoneTable } from '../zones/zone-table.ts';
import { createClusterWindows } from './cluster-windows.ts';
import { Concurrency } from './concurrency.ts';
import { LeakyBucket } from './leaky-bucket.ts';
import type { Lease, LeaseRequest, LimitHost } from './lease.ts';
import { LocalWindows } from './local-windows.ts';
import { createSyncedWindows } from './redis/synced-windows.ts';
import { createRedisWindows } from './redis-windows.ts';
import { ZoneCircuits } from './zone-circuits.ts';

export type { Lease, LeaseRequest };

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
      const { policy, syncRate = -1 } = options;
      const local = () => new LocalWindows(tableOf(options.zone), options);
      if (policy === 'local') return local();
      if (policy === 'cluster') return createClusterWindows(options, host, tableOf(options.zone));
      if (syncRate > 0) return createSyncedWindows(options, local(), tableOf(options.zone).identity);
      return createRedisWindows(options);
    },
    bucket: (options) => new LeakyBucket(tableOf(options.zone), options),
    concurrency: (options) => new Concurrency(tableOf(options.zone), host.worker, options),
    circuits: (options) => new ZoneCircuits(tableOf(options.zone), options),
  };
}
