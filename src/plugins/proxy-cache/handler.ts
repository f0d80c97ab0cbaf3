/*
 * A shared HTTP cache (RFC 9111).
 *
 *   rules/      decisions of the RFC, as pure functions of headers, times and the policy
 *   store/      finds and stores responses over the contract of the backends, `EntryStore`
 *   backends/   memory that the workers of a node share, and Redis
 *   lookup/     the phases of a request: lookup, capture of the response, refresh in the background
 */
import {
  type HeaderFilterContext,
  type PluginAdminTools,
  type PluginPhases,
  type PluginTools,
  redisOptions,
} from '../../plugin-sdk/index.ts';
import { memoryPurges } from './backends/memory-purges.ts';
import { memoryStore } from './backends/memory-store.ts';
import { redisPurges } from './backends/redis-purges.ts';
import { redisStore } from './backends/redis-store.ts';
import { cacheContextKey } from './lookup/cache-context.ts';
import { CacheLookup } from './lookup/cache-lookup.ts';
import { cacheServices } from './lookup/cache-services.ts';
import { ResponseCapture } from './lookup/response-capture.ts';
import { type CachePolicy, contentTypeMatcher, parseSize } from './rules/policy.ts';
import type { ProxyCacheConfig } from './schema.ts';
import type { EntryStore } from './store/entry-store.ts';
import { noPurges, type PurgeLog } from './store/purge-log.ts';
import { purgesZoneName, zoneName } from './zones.ts';

export function cacheResponses(config: ProxyCacheConfig, tools: PluginTools): PluginPhases {
  const { entries, purges } = openStores(config, tools);
  return cacheIn(entries, cachePolicy(config, tools.instanceId), tools, purges);
}

/** The phases of a cache that keeps its entries in this store. */
export function cacheIn(
  entries: EntryStore,
  policy: CachePolicy,
  tools: PluginTools,
  purges: PurgeLog = noPurges,
): PluginPhases {
  const services = cacheServices(policy, entries, tools, purges);
  const lookup = new CacheLookup(services);
  const capture = new ResponseCapture(services);
  return {
    access: (context) => lookup.access(context),
    backendAnswer: (context) => capture.received(context),
    backendFailure: (context) => capture.failed(context),
    headerFilter: (context) => addCacheHeaders(context, policy),
    log(context) {
      const state = context.get(cacheContextKey);
      if (state === undefined) return;
      state.ended = true;
      // Another plugin may have replied, or the client may have disconnected.
      services.releaseLock(state);
    },
    dispose: () => {
      entries.close();
      purges.close();
    },
  };
}

/** Headers of the cache in responses that do not come from it. */
function addCacheHeaders(context: HeaderFilterContext, policy: CachePolicy): void {
  const state = context.get(cacheContextKey);
  if (state === undefined) return;
  const { response } = context;
  if (!policy.passesTags && response.source === 'upstream') {
    for (const name of policy.tagHeaders) if (response.header(name) !== null) response.removeHeader(name);
  }
  if (state.hasCacheHeaders) return;
  if (policy.showsStatus) response.setHeader('X-Cache-Status', state.status);
  if (policy.showsKey && state.key !== '') response.setHeader('X-Cache-Key', state.key);
}

export function cachePolicy(config: ProxyCacheConfig, instanceId: string): CachePolicy {
  const shown = config.response_headers;
  return {
    keyNamespace: `${instanceId} ${JSON.stringify(sharingSettings(config))}`,
    methods: new Set(config.request_method),
    statuses: new Set(config.response_code),
    acceptsContentType: contentTypeMatcher(config.content_type),
    ttl: config.cache_ttl ?? 300,
    honoursCacheControl: config.cache_control,
    ignoreCase: config.ignore_uri_case ?? false,
    storageTtl: config.storage_ttl ?? -1,
    queryArguments: config.vary_query_params === null ? null : new Set(config.vary_query_params),
    varyHeaders: [...new Set((config.vary_headers ?? []).map((name) => name.toLowerCase()))].sort(),
    showsAge: shown.age ?? true,
    showsStatus: shown['X-Cache-Status'] ?? true,
    showsKey: shown['X-Cache-Key'] ?? true,
    coalescing: config.coalescing,
    coalescingWait: config.coalescing_wait * 1000,
    staleWhileRevalidate: config.stale_while_revalidate,
    staleIfError: config.stale_if_error,
    maxBody: maxBody(config),
    tagHeaders: config.tag_headers.map((name) => name.toLowerCase()),
    passesTags: config.pass_tags,
    cookies: config.set_cookie,
    ignoresNoStore: config.ignore_no_store,
  };
}

/** What decides which requests may share a response. */
function sharingSettings(config: ProxyCacheConfig): readonly unknown[] {
  const { cache_control, ignore_uri_case, vary_query_params, vary_headers, set_cookie, ignore_no_store } = config;
  return [cache_control, ignore_uri_case, vary_query_params, vary_headers, set_cookie, ignore_no_store];
}

export function maxBody(config: ProxyCacheConfig): number {
  return parseSize(config.max_body) ?? 2 ** 20;
}

/** Whether requests with a body are looked up: the body is part of their key. */
export function needsRequestBody(config: ProxyCacheConfig): boolean {
  return config.request_method.some((method) => method !== 'GET' && method !== 'HEAD');
}

/** Where the responses of an instance are, and its last purges. */
export interface CacheStores {
  readonly entries: EntryStore;
  readonly purges: PurgeLog;
}

function openStores(config: ProxyCacheConfig, tools: PluginTools): CacheStores {
  const { instanceId } = tools;
  if (config.strategy === 'redis') return openRedisStores(config, instanceId, tools);
  return {
    entries: memoryStore(tools.zone(zoneName(config)), { worker: tools.node.worker, instance: instanceId }),
    purges: memoryPurges(tools.zone(purgesZoneName(config)), instanceId),
  };
}

/** The stores of an instance, on the control plane; null: no worker has opened them. */
export function openAdminStores(
  config: ProxyCacheConfig,
  instanceId: string,
  tools: Pick<PluginAdminTools, 'zone' | 'settings'>,
): CacheStores | null {
  if (config.strategy === 'redis') return openRedisStores(config, instanceId, tools);
  const memory = tools.zone(instanceId, zoneName(config));
  const purges = tools.zone(instanceId, purgesZoneName(config));
  if (memory === null || purges === null) return null;
  return {
    entries: memoryStore(memory, { worker: 'control-plane', instance: instanceId }),
    purges: memoryPurges(purges, instanceId),
  };
}

function openRedisStores(
  config: ProxyCacheConfig,
  instance: string,
  { settings }: Pick<PluginTools, 'settings'>,
): CacheStores {
  const redis = redisOptions(config.redis, settings);
  return { entries: redisStore(redis, { instance, maxBytes: maxBody(config) }), purges: redisPurges(redis, instance) };
}
