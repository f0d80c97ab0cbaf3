import type { Analytics, AnalyticsOptions } from '../analytics/analytics.ts';
import { createUsageMemory } from '../observability/analytics/usage-memory.ts';
import type { Settings } from '../settings/settings.ts';
import type { UsageStore } from '../store/usage-store.ts';
import type { Supervisor } from '../workers/supervisor.ts';

/** Where the workers of a node count requests, by number of the worker; empty: they do not. */
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

/** Begins to keep what the workers count; null: it is off. */
export async function openAnalytics(options: NodeAnalyticsOptions): Promise<Analytics | null> {
  const { settings, nodeId, store, supervisor, memories, log } = options;
  if (!settings.analytics.enabled) return null;
  const { Analytics: AnalyticsClass } = await import('../analytics/analytics.ts');
  const analytics = new AnalyticsClass({
    settings: settings.analytics,
    store,
    node: nodeId,
    memories,
    running: () => supervisor.running().map(({ number }) => number),
    post: (worker, message) =>
      supervisor
        .running()
        .find(({ number }) => number === worker)
        ?.post(message),
    log,
  });
  analytics.start();
  return analytics;
}
