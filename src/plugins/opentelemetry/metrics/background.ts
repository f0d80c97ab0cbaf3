import type { BackgroundTools, ConfiguredInstance, PluginBackground } from '../../../plugin-sdk/index.ts';
import { MetricsExporter, type MetricsExporterOptions } from './exporter.ts';
import type { MetricsConfig } from './metrics-config.ts';
import { StartTimes } from './start-times.ts';

interface Running {
  readonly config: unknown;
  readonly exporter: MetricsExporter;
}

/** Sends metrics for each instance with a metrics endpoint. */
export function metricsBackground(tools: BackgroundTools): PluginBackground {
  const running = new Map<string, Running>();
  const ending = new Set<Promise<void>>();
  /** By instance: a new configuration continues the same sums. */
  const starts = new Map<string, StartTimes>();

  const end = (id: string): void => {
    const stopped = running.get(id)?.exporter.stop();
    running.delete(id);
    if (stopped === undefined) return;
    ending.add(stopped);
    void stopped.finally(() => ending.delete(stopped));
  };

  const begin = ({ id, config }: ConfiguredInstance): void => {
    if (!hasEndpoint(config)) return;
    const since = starts.get(id) ?? new StartTimes(performance.timeOrigin);
    starts.set(id, since);
    try {
      running.set(id, { config, exporter: new MetricsExporter({ instanceId: id, config, starts: since, tools }) });
    } catch (error) {
      tools.log.error('metrics cannot be sent', { reason: error instanceof Error ? error.message : 'unknown' });
    }
  };

  return {
    configured(instances) {
      const wanted = new Set(instances.map(({ id }) => id));
      for (const id of [...running.keys()]) if (!wanted.has(id)) end(id);
      for (const id of [...starts.keys()]) if (!wanted.has(id)) starts.delete(id);
      for (const instance of instances) {
        const { id, config } = instance;
        if (running.get(id)?.config === config) continue;
        end(id);
        begin(instance);
      }
    },
    handle: async () => null,
    async stop() {
      for (const id of [...running.keys()]) end(id);
      await Promise.all(ending);
    },
  };
}

function hasEndpoint(config: unknown): config is MetricsExporterOptions['config'] {
  return ((config as MetricsConfig).metrics?.endpoint ?? null) !== null;
}
