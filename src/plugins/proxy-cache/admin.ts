import type {
  EntityRow,
  PluginAdminAnswer,
  PluginAdminRequest,
  PluginAdminRoute,
  PluginAdminRoutes,
  PluginAdminTools,
} from '../../plugin-sdk/index.ts';
import { shownEntry } from './admin-view.ts';
import type { AnswerStore, PurgeTarget, StoredEntry } from './answer-store.ts';
import type { ProxyCacheConfig } from './schema.ts';
import { StoreUnavailable } from './store-unavailable.ts';
import { openAdminStore } from './stores.ts';

const cacheKey = /^[0-9a-f]{64}$/;

export const adminRoutes: PluginAdminRoutes['adminRoutes'] = (tools): readonly PluginAdminRoute[] => [
  {
    path: '/proxy-cache',
    operations: {
      DELETE: {
        summary: 'Empties the caches of all instances; with a tag or a prefix, removes only what has it.',
        status: 204,
        otherStatuses: [200, 400, 404, 503],
        queryParameters: [
          {
            name: 'tag',
            description: 'Only answers with this tag (`Surrogate-Key`, `Cache-Tag`).',
            schema: { type: 'string', minLength: 1 },
          },
          {
            name: 'prefix',
            description: 'Only answers whose URL starts with this: `http://example.com/list`.',
            schema: { type: 'string', minLength: 1 },
          },
          { name: 'plugin', description: 'Only of the plugin instance with this id.' },
        ],
        handle: (request) => available(() => purge(request, tools)),
      },
    },
  },
  {
    path: '/proxy-cache/{cache_key}',
    operations: {
      GET: {
        summary: 'An answer that is kept.',
        handle: (request) => available(async () => show(request, await instancesOf(tools), tools)),
      },
      DELETE: {
        summary: 'Removes an answer.',
        status: 204,
        handle: (request) => available(async () => remove(request, await instancesOf(tools), tools)),
      },
    },
  },
  {
    path: '/proxy-cache/{plugin_id}/caches/{cache_key}',
    operations: {
      GET: {
        summary: 'An answer that an instance keeps.',
        handle: (request) => available(async () => show(request, await named(request, tools), tools)),
      },
      DELETE: {
        summary: 'Removes an answer that an instance keeps.',
        status: 204,
        handle: (request) => available(async () => remove(request, await named(request, tools), tools)),
      },
    },
  },
];

/** What the work answers, or 503 while a store does not. */
async function available(work: () => Promise<PluginAdminAnswer | null>): Promise<PluginAdminAnswer | null> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return { status: 503, json: { message: 'the store of a cache does not answer' } };
  }
}

async function instancesOf(tools: PluginAdminTools): Promise<readonly EntityRow[]> {
  const rows = await tools.all('plugins');
  return rows.filter((row) => row['name'] === 'proxy-cache' && row['enabled'] !== false);
}

async function named({ params }: PluginAdminRequest, tools: PluginAdminTools): Promise<readonly EntityRow[]> {
  return (await instancesOf(tools)).filter((row) => row.id === params['plugin_id']);
}

async function purge(request: PluginAdminRequest, tools: PluginAdminTools): Promise<PluginAdminAnswer | null> {
  const [tag, prefix, plugin] = [request.query('tag'), request.query('prefix'), request.query('plugin')];
  if (tag !== null && prefix !== null) return refused('tag and prefix cannot be given together');
  if (tag === '' || prefix === '') return refused('tag and prefix must not be empty');
  const all = await instancesOf(tools);
  const chosen = plugin === null ? all : all.filter((row) => row.id === plugin);
  if (plugin !== null && chosen.length === 0) return null;
  const targetOf = (row: EntityRow): PurgeTarget =>
    tag !== null ? { tag } : prefix !== null ? { prefix } : { instance: row.id };
  let purged = 0;
  for (const row of chosen) purged += await withStore(row, tools, 0, (store) => store.purge(targetOf(row)));
  return tag === null && prefix === null ? { status: 204 } : { status: 200, json: { purged } };
}

function refused(message: string): PluginAdminAnswer {
  return { status: 400, json: { message } };
}

async function show(
  { params }: PluginAdminRequest,
  rows: readonly EntityRow[],
  tools: PluginAdminTools,
): Promise<PluginAdminAnswer | null> {
  const key = keyOf(params);
  if (key === null) return null;
  for (const row of rows) {
    const entry = await withStore<StoredEntry | null>(row, tools, null, (store) => store.get(key));
    const shown = entry === null ? null : shownEntry(entry, Date.now());
    if (shown !== null) return { status: 200, json: shown };
  }
  return null;
}

async function remove(
  { params }: PluginAdminRequest,
  rows: readonly EntityRow[],
  tools: PluginAdminTools,
): Promise<PluginAdminAnswer | null> {
  const key = keyOf(params);
  if (key === null) return null;
  let removed = 0;
  for (const row of rows) removed += await withStore(row, tools, 0, (store) => store.purge({ key }));
  return removed === 0 ? null : { status: 204 };
}

function keyOf(params: PluginAdminRequest['params']): string | null {
  const key = params['cache_key'] ?? '';
  return cacheKey.test(key) ? key : null;
}

async function withStore<T>(
  row: EntityRow,
  tools: PluginAdminTools,
  none: T,
  work: (store: AnswerStore) => T | Promise<T>,
): Promise<T> {
  const store = openAdminStore(row['config'] as ProxyCacheConfig, row.id, tools);
  if (store === null) return none;
  try {
    return await work(store);
  } finally {
    store.close();
  }
}
