import { type LabelledCount, readLabelledCounts } from '../../plugin-kit/shared-memory/index.ts';
import {
  type EntityRow,
  foreignIdOf,
  type PluginAdminAnswer,
  type PluginAdminRequest,
  type PluginAdminRoute,
  type PluginAdminRoutes,
  type PluginAdminTools,
} from '../../plugin-sdk/index.ts';
import type { ApiVersioningConfig } from './schema.ts';
import { usageZone } from './zones.ts';

/** Requests of one consumer to one version, on this node since it started. */
interface UsageRow {
  readonly plugin: { readonly id: string };
  readonly route: { readonly id: string } | null;
  readonly service: { readonly id: string } | null;
  /** Null: for requests answered with 404 or 400, and for `other`. */
  readonly version: string | null;
  readonly deprecated_at: string | null;
  readonly sunset_at: string | null;
  /** Null: the client was not authenticated, or is not a consumer. */
  readonly consumer: { readonly id: string; readonly username?: string } | null;
  /** The sum of all requests without an entry in the table. */
  readonly other: boolean;
  readonly count: number;
  /** Seconds since the epoch. */
  readonly last_seen: number;
}

const defaultSize = 100;
const maxSize = 1000;

export const adminRoutes: PluginAdminRoutes['adminRoutes'] = (tools): readonly PluginAdminRoute[] => [
  {
    path: '/api-versions',
    operations: {
      GET: {
        access: 'read',
        summary: 'How often each version was called on this node since it started, by consumer, and when last.',
        queryParameters: [
          { name: 'version', description: 'Only of this version.' },
          { name: 'consumer', description: 'Only of the consumer with this id or username.' },
          { name: 'plugin', description: 'Only of the plugin instance with this id.' },
          {
            name: 'size',
            description: 'Rows per page.',
            schema: { type: 'integer', minimum: 1, maximum: maxSize, default: defaultSize },
          },
          {
            name: 'offset',
            description: '`offset` of the previous page: continues after it.',
            schema: { type: 'string', pattern: '^[A-Za-z0-9_=-]+$' },
          },
        ],
        handle: (request) => list(request, tools),
      },
    },
  },
];

const countedElsewhere: PluginAdminAnswer = {
  status: 400,
  json: {
    message: 'a control plane counts no requests: GET /analytics/usage?group_by=version has those of its data planes',
  },
};

async function list(request: PluginAdminRequest, tools: PluginAdminTools): Promise<PluginAdminAnswer> {
  if (!tools.carriesTraffic) return countedElsewhere;
  const size = sizeOf(request.query('size'));
  if (size === null) return { status: 400, json: { message: `size must be a whole number from 1 to ${maxSize}` } };
  const after = startOf(request.query('offset'));
  if (after === null) return { status: 400, json: { message: 'invalid offset' } };
  const filter = await filterOf(request, tools);
  const instances = (await tools.all('plugins')).filter((row) => row['name'] === 'api-versioning');
  const found = instances
    .flatMap((row) => usageRows(row, tools))
    .filter(filter)
    .map((row) => ({ row, key: keyOf(row) }))
    .filter(({ key }) => key > after)
    .sort((one, other) => (one.key < other.key ? -1 : 1));
  const page = found.slice(0, size);
  const data = await Promise.all(page.map(({ row }) => withUsername(row, tools)));
  const last = page.at(-1);
  if (last === undefined || found.length <= size) return { status: 200, json: { data, next: null } };
  const offset = Buffer.from(last.key).toString('base64url');
  return { status: 200, json: { data, next: nextOf(request, size, offset), offset } };
}

function usageRows(row: EntityRow, tools: PluginAdminTools): readonly UsageRow[] {
  const config = row['config'] as ApiVersioningConfig;
  const zone = usageZone(config, row.id);
  const memory = zone === null ? null : tools.zone(row.id, zone.name);
  if (memory === null) return [];
  const { entries, other } = readLabelledCounts(memory);
  const rows = entries.map((entry) => usageRow(row, config, entry, false));
  return other.count === 0 ? rows : [...rows, usageRow(row, config, other, true)];
}

function usageRow(row: EntityRow, config: ApiVersioningConfig, entry: LabelledCount, other: boolean): UsageRow {
  const [name = '', consumer = ''] = entry.labels;
  const version = config.versions.find((one) => one.name === name);
  return {
    plugin: { id: row.id },
    route: reference(row, 'route'),
    service: reference(row, 'service'),
    version: name === '' ? null : name,
    deprecated_at: version?.deprecated_at ?? null,
    sunset_at: version?.sunset_at ?? null,
    consumer: consumer === '' ? null : { id: consumer },
    other,
    count: entry.count,
    last_seen: entry.lastSeen,
  };
}

async function filterOf(request: PluginAdminRequest, tools: PluginAdminTools): Promise<(row: UsageRow) => boolean> {
  const version = request.query('version');
  const plugin = request.query('plugin');
  const named = request.query('consumer');
  // A deleted consumer still has counts.
  const consumer = named === null ? null : ((await tools.find('consumers', named))?.id ?? named);
  return (row) =>
    (version === null || row.version === version) &&
    (plugin === null || row.plugin.id === plugin) &&
    (consumer === null || row.consumer?.id === consumer);
}

async function withUsername(row: UsageRow, tools: PluginAdminTools): Promise<UsageRow> {
  if (row.consumer === null) return row;
  const username = (await tools.find('consumers', row.consumer.id))?.['username'];
  return typeof username === 'string' ? { ...row, consumer: { ...row.consumer, username } } : row;
}

/** Sort key of the rows; the next page starts after the last key. */
function keyOf({ plugin, version, consumer, other }: UsageRow): string {
  return [plugin.id, other ? '1' : '0', version ?? '', consumer?.id ?? ''].join('\0');
}

function nextOf({ query }: PluginAdminRequest, size: number, offset: string): string {
  const kept = ['version', 'consumer', 'plugin']
    .map((name) => [name, query(name)] as const)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${encodeURIComponent(value ?? '')}`);
  const sized = query('size') === null ? [] : [`size=${size}`];
  return `/api-versions?${[...kept, ...sized, `offset=${offset}`].join('&')}`;
}

function sizeOf(text: string | null): number | null {
  if (text === null) return defaultSize;
  const size = Number(text);
  return /^\d{1,4}$/.test(text) && size >= 1 && size <= maxSize ? size : null;
}

function startOf(text: string | null): string | null {
  if (text === null) return '';
  const key = Buffer.from(text, 'base64url').toString();
  return /^[\w-]{1,1000}$/.test(text) && key.includes('\0') ? key : null;
}

function reference(row: EntityRow, field: string): { readonly id: string } | null {
  const id = foreignIdOf(row, field);
  return id === null ? null : { id };
}
