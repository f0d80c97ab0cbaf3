import {
  type EntityRow,
  foreignIdOf,
  type PluginAdminAnswer,
  type PluginAdminRequest,
  type PluginAdminRoute,
  type PluginAdminRoutes,
  type PluginAdminTools,
} from '../../plugin-sdk/index.ts';
import { instancesFor } from './instances-for.ts';
import { counterKey, limitsOf, type QuotaPeriod, quotaPeriods, spanOf } from './quota.ts';
import type { QuotasConfig } from './schema.ts';

/** One quota of a consumer. Times are in seconds since the epoch. */
interface QuotaState {
  readonly plugin: { readonly id: string };
  readonly route: { readonly id: string } | null;
  readonly service: { readonly id: string } | null;
  readonly period: QuotaPeriod;
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  readonly resets_at: number;
}

interface Counted extends QuotaState {
  readonly key: string;
  readonly windowStart: number;
}

export const adminRoutes: PluginAdminRoutes['adminRoutes'] = (tools): readonly PluginAdminRoute[] => [
  {
    path: '/consumers/{consumers}/quotas',
    operations: {
      GET: {
        access: 'read',
        summary: 'What a consumer has used of its quotas, and when they reset.',
        handle: async (request) => {
          const counted = await quotasOf(request, tools);
          if (counted === null) return null;
          return { status: 200, json: { data: counted.map(shown), next: null } };
        },
      },
      DELETE: {
        access: 'admin',
        summary: 'Sets what a consumer has used back to 0.',
        status: 204,
        queryParameters: [
          {
            name: 'period',
            description: 'Only quotas of this period.',
            schema: { type: 'string', enum: ['day', 'month'] },
          },
          { name: 'plugin', description: 'Only of the plugin instance with this id.' },
        ],
        handle: (request) => reset(request, tools),
      },
    },
  },
];

async function reset(request: PluginAdminRequest, tools: PluginAdminTools): Promise<PluginAdminAnswer | null> {
  const period = request.query('period');
  const plugin = request.query('plugin');
  if (period !== null && !quotaPeriods.some((known) => known === period)) {
    return { status: 400, json: { message: `period must be one of: ${quotaPeriods.join(', ')}` } };
  }
  const counted = await quotasOf(request, tools);
  if (counted === null) return null;
  const chosen = counted.filter(
    (quota) => (period === null || quota.period === period) && (plugin === null || quota.plugin.id === plugin),
  );
  await tools.resetCounters(chosen);
  return { status: 204 };
}

/** Null when there is no such consumer. */
async function quotasOf({ params }: PluginAdminRequest, tools: PluginAdminTools): Promise<readonly Counted[] | null> {
  const consumer = await tools.find('consumers', params['consumers'] ?? '');
  if (consumer === null) return null;
  const now = Date.now();
  const instances = instancesFor(await tools.all('plugins'), consumer.id);
  const places = instances.flatMap((row) => placesOf(row, consumer.id, now));
  const stored = await tools.counters(places.map((place) => place.key));
  const used = new Map(stored.map((counter) => [`${counter.key}@${counter.windowStart}`, counter.used]));
  return places.map((place): Counted => {
    const count = used.get(`${place.key}@${place.windowStart}`) ?? 0;
    return { ...place, used: count, remaining: Math.max(0, place.limit - count) };
  });
}

function placesOf(row: EntityRow, consumer: string, now: number): readonly Omit<Counted, 'used' | 'remaining'>[] {
  return limitsOf(row['config'] as QuotasConfig).map(({ period, limit }) => {
    const { start, end } = spanOf(period, now);
    return {
      plugin: { id: row.id },
      route: reference(row, 'route'),
      service: reference(row, 'service'),
      period,
      limit,
      resets_at: end / 1000,
      key: counterKey(row.id, period, consumer),
      windowStart: start,
    };
  });
}

function shown({ plugin, route, service, period, limit, used, remaining, resets_at }: Counted): QuotaState {
  return { plugin, route, service, period, limit, used, remaining, resets_at };
}

function reference(row: EntityRow, field: string): { readonly id: string } | null {
  const id = foreignIdOf(row, field);
  return id === null ? null : { id };
}
