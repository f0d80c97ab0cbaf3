import type { UsageStore } from '../../control/store/usage-store.ts';
import type { Supervisor } from '../../control/supervisor/supervisor.ts';
import type { Analytics, AnalyticsOptions } from '../../control/usage/analytics.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import { createUsageMemory } from '../../shared/usage/usage-memory.ts';

/** Where the workers of a node count requests, by number of the worker; empty: usage is not counted. */
export function usageMemories({ analytics, workers }: Settings): readonly SharedArrayBuffer[] {
  if (!analytics.enabled) return [];
  return Array.from({ length: workers }, () => createUsageMemory(analytics.maxSeries));
}

export interface NodeAnalyticsOptions {
  readonly settings: Settings;
  readonly nodeId: string;
  readonly store: UsageStore;
  readonly supervisor: Supervisor;
  readonly memories: readonly SharedArrayBuffer[];
  readonly log: AnalyticsOptions['log'];
}

/** Stores what the workers count, once it is started; null: analytics are off. */
export async function openAnalytics(options: NodeAnalyticsOptions): Promise<Analytics | null> {
  const { settings, nodeId, store, supervisor, memories, log } = options;
  if (!settings.analytics.enabled) return null;
  const { Analytics: AnalyticsClass } = await import('../../control/usage/analytics.ts');
  const analytics = new AnalyticsClass({
    settings: settings.analytics,
    store,
    node: nodeId,
    memories,
    removesOld: settings.role !== 'data_plane',
    running: () => supervisor.running().map(({ number }) => number),
    post: (worker, message) =>
      supervisor
        .running()
        .find(({ number }) => number === worker)
        ?.post(message),
    log,
  });
  return analytics;
}
