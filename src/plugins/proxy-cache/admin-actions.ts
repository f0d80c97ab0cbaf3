import { isUtf8 } from 'node:buffer';
import {
  EntityAccessError,
  type EntityRow,
  type PluginAdminAnswer,
  type PluginAdminRequest,
  type PluginAdminTools,
} from '../../plugin-sdk/index.ts';
import { openAdminStores } from './handler.ts';
import { type NodePurge, purgeStores } from './purge.ts';
import type { ProxyCacheConfig } from './schema.ts';
import { decodeHead } from './store/entry-format.ts';
import { type EntryStore, type StoredEntry, StoreUnavailable } from './store/entry-store.ts';

/** Characters of a tag or prefix. */
const maxTextLength = 4096;

const cacheKey = /^[0-9a-f]{64}$/;

/** Which instances a request is about: all, or the one in its path. */
type Chosen = 'all' | 'one';

export function purgeResponses(
  request: PluginAdminRequest,
  tools: PluginAdminTools,
): Promise<PluginAdminAnswer | null> {
  return available(() => purge(request, tools));
}

export function showResponse(
  request: PluginAdminRequest,
  tools: PluginAdminTools,
  chosen: Chosen,
): Promise<PluginAdminAnswer | null> {
  return available(async () => show(request, await chosenBy(request, tools, chosen), tools));
}

export function removeResponse(
  request: PluginAdminRequest,
  tools: PluginAdminTools,
  chosen: Chosen,
): Promise<PluginAdminAnswer | null> {
  return available(async () => remove(request, await chosenBy(request, tools, chosen), tools));
}

/** Answers 503 if the store does not respond. */
async function available(work: () => Promise<PluginAdminAnswer | null>): Promise<PluginAdminAnswer | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NotEverywhere) {
      return { status: 503, json: { message: 'purged on this node only: the database does not answer' } };
    }
    if (!(error instanceof StoreUnavailable)) throw error;
    return { status: 503, json: { message: 'the cache store does not respond' } };
  }
}

async function instancesOf(tools: PluginAdminTools): Promise<readonly EntityRow[]> {
  const rows = await tools.all('plugins');
  return rows.filter((row) => row['name'] === 'proxy-cache' && row['enabled'] !== false);
}

async function chosenBy(
  { params }: PluginAdminRequest,
  tools: PluginAdminTools,
  chosen: Chosen,
): Promise<readonly EntityRow[]> {
  const rows = await instancesOf(tools);
  return chosen === 'all' ? rows : rows.filter((row) => row.id === params['plugin_id']);
}

async function purge(request: PluginAdminRequest, tools: PluginAdminTools): Promise<PluginAdminAnswer | null> {
  const [tag, prefix, plugin] = [request.query('tag'), request.query('prefix'), request.query('plugin')];
  if (tag !== null && prefix !== null) return refused('tag and prefix cannot be given together');
  if (tag === '' || prefix === '') return refused('tag and prefix must not be empty');
  if ((tag ?? prefix ?? '').length > maxTextLength) return refused('tag and prefix must not be longer than 4096');
  const all = await instancesOf(tools);
  const chosen = plugin === null ? all : all.filter((row) => row.id === plugin);
  if (plugin !== null && chosen.length === 0) return null;
  const target = tag !== null ? { tag } : prefix !== null ? { prefix } : 'everything';
  const { removed } = await purgeEverywhere(chosen, target, plugin, tools);
  return tag === null && prefix === null ? { status: 204 } : { status: 200, json: { purged: removed } };
}

/** Purges here, then on all other nodes that have memory of their own. A Redis server is purged once. `only`: an instance. */
async function purgeEverywhere(
  rows: readonly EntityRow[],
  purge: NodePurge['purge'],
  only: string | null,
  tools: PluginAdminTools,
): Promise<{ readonly removed: number; readonly isSent: boolean }> {
  let removed = 0;
  for (const row of rows) removed += await purgeStores(row.id, row['config'] as ProxyCacheConfig, purge, tools);
  if (!rows.some(isInMemory)) return { removed, isSent: false };
  try {
    const message: NodePurge = { purge, instance: only };
    return { removed, isSent: await tools.broadcast(message) };
  } catch (error) {
    if (error instanceof EntityAccessError && error.kind === 'unavailable') throw new NotEverywhere();
    throw error;
  }
}

/** The store that all nodes share does not answer. */
class NotEverywhere extends Error {}

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
    const json = entry === null ? null : entryJson(entry, Date.now());
    if (json !== null) return { status: 200, json };
  }
  if (!tools.carriesTraffic && rows.some(isInMemory)) {
    return refused('a control plane has no responses in memory: they are on its data planes');
  }
  return null;
}

function isInMemory(row: EntityRow): boolean {
  return (row['config'] as ProxyCacheConfig).strategy === 'memory';
}

async function remove(
  { params }: PluginAdminRequest,
  rows: readonly EntityRow[],
  tools: PluginAdminTools,
): Promise<PluginAdminAnswer | null> {
  const key = keyOf(params);
  if (key === null) return null;
  const { removed, isSent } = await purgeEverywhere(rows, { key }, params['plugin_id'] ?? null, tools);
  // Another node may have it.
  return removed === 0 && !isSent ? null : { status: 204 };
}

function keyOf(params: PluginAdminRequest['params']): string | null {
  const key = params['cache_key'] ?? '';
  return cacheKey.test(key) ? key : null;
}

async function withStore<T>(
  row: EntityRow,
  tools: PluginAdminTools,
  none: T,
  work: (store: EntryStore) => T | Promise<T>,
): Promise<T> {
  const stores = openAdminStores(row['config'] as ProxyCacheConfig, row.id, tools);
  if (stores === null) return none;
  try {
    return await work(stores.entries);
  } finally {
    stores.entries.close();
    stores.purges.close();
  }
}

/** An entry in the form of the Admin API, with Kong's names; null if it contains neither a response nor an index. */
function entryJson(entry: StoredEntry, now: number): Readonly<Record<string, unknown>> | null {
  const value = decodeHead(entry.head);
  if (value === null) return null;
  const ttl = Math.max(0, Math.ceil((entry.expires - now) / 1000));
  // The address has several responses, each with its own key.
  if (value.kind === 'index') return { url: entry.url, vary: value.varyNames, ttl };
  const isText = isUtf8(entry.body);
  const body = Buffer.from(entry.body).toString(isText ? 'utf8' : 'base64');
  return {
    status: value.status,
    headers: headersJson(value.headers),
    body,
    ...(isText ? {} : { body_encoding: 'base64' }),
    body_len: entry.body.byteLength,
    timestamp: value.storedAt / 1000,
    ttl,
    fresh_for: Math.max(0, value.freshnessLifetime - value.initialAge - (now - value.storedAt) / 1000),
    tags: entry.tags,
    url: entry.url,
    version: 1,
  };
}

function headersJson(headerBlock: string): Readonly<Record<string, string | readonly string[]>> {
  const headers: Record<string, string | string[]> = Object.create(null);
  for (const line of headerBlock.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon < 0) continue;
    const [name, value] = [line.slice(0, colon), line.slice(colon + 1).trim()];
    const known = headers[name];
    if (known === undefined) headers[name] = value;
    else if (typeof known === 'string') headers[name] = [known, value];
    else known.push(value);
  }
  return headers;
}
