import { outageReporter } from 'sluicegate/plugin-kit/logging';
import { openRedis, RedisUnavailable, redisScript } from 'sluicegate/plugin-kit/net';
import { seriesWriter } from 'sluicegate/plugin-kit/shared-memory';
import { compileTemplate, hasControl, headerText, sharedValues } from 'sluicegate/plugin-kit/templates';
import {
  type AccessContext,
  type BaseContext,
  type HeaderFilterContext,
  type LogContext,
  type PluginPhases,
  type PluginTools,
  redisOptions,
} from 'sluicegate/plugin-sdk';
import type { VisitsConfig } from './schema.ts';
import { bounds, bucketsAt, cells, sumCell, visitsCell, visitsZone } from './zones.ts';

/** Counts expire a day after the last visit. */
const increment = redisScript(`
  local visits = redis.call('INCR', KEYS[1])
  redis.call('EXPIRE', KEYS[1], 86400)
  return visits
`);

/** Counts visits of a client in Redis, for all nodes, and shows the count in the response. */
export function countVisits(config: VisitsConfig, tools: PluginTools): PluginPhases {
  const redis = openRedis(redisOptions(config.redis, tools.settings));
  const key = compileTemplate(config.key);
  const message = compileTemplate(config.message, { over: 'answer' });
  const redisFailed = outageReporter(tools, 'redis_failures', 'Redis is unavailable, so visits are not counted');
  const writer = seriesWriter(tools.zone(visitsZone), tools.node.worker, cells);
  /** First cell of the series of the route of this request. */
  const seriesOf = ({ route }: BaseContext): number => writer.place([route?.name ?? route?.id ?? '']);

  return {
    async access(context: AccessContext): Promise<undefined> {
      if (context.dry) return;
      try {
        const visits = await redis.run(increment, [`visits:${tools.instanceId}:${key.render(context)}`], []);
        // Templates of this plugin and of those after it read it as $(shared.visits).
        context.set(sharedValues, { ...context.get(sharedValues), visits: Number(visits) });
        writer.values[seriesOf(context) + visitsCell]! += 1;
      } catch (error) {
        if (!(error instanceof RedisUnavailable)) throw error;
        redisFailed(error);
      }
    },

    headerFilter(context: HeaderFilterContext): void {
      if (context.get(sharedValues)?.['visits'] === undefined) return;
      const text = message.render(context);
      if (!hasControl(text)) context.response.setHeader('X-Visits', headerText(text));
    },

    /** The span of `access` is the time in Redis. */
    log(context: LogContext): void {
      if (context.draw >= config.trace_rate) return;
      const span = context.trace?.spans.find(
        ({ kind, facts }) => kind === 'plugin' && facts['instance'] === tools.instanceId && facts['phase'] === 'access',
      );
      if (span === undefined || span.end === 0) return;
      const milliseconds = span.end - span.start;
      const bucket = bounds.findIndex((bound) => milliseconds <= bound);
      const series = seriesOf(context);
      writer.values[series + bucketsAt + (bucket < 0 ? bounds.length : bucket)]! += 1;
      writer.values[series + sumCell]! += milliseconds;
    },

    dispose: () => redis.close(),
  };
}
