import type { PluginAdminTools } from '../../plugin-sdk/index.ts';
import { openAdminStores } from './handler.ts';
import type { ProxyCacheConfig } from './schema.ts';
import type { NotedPurge } from './store/purge-log.ts';

/** A purge on its way to other nodes. */
export interface NodePurge {
  readonly purge: { readonly key: string } | { readonly tag: string } | { readonly prefix: string } | 'everything';
  /** Id of a plugin instance; null: all. */
  readonly instance: string | null;
}

/** Purges the store of an instance that this node has open. Returns the number of entries that were removed. */
export async function purgeStores(
  instance: string,
  config: ProxyCacheConfig,
  purge: NodePurge['purge'],
  tools: Pick<PluginAdminTools, 'zone' | 'settings'>,
): Promise<number> {
  const stores = openAdminStores(config, instance, tools);
  if (stores === null) return 0;
  const { entries, purges } = stores;
  const target: NotedPurge = purge === 'everything' ? { instance } : purge;
  try {
    await purges.note(target);
    return await entries.purge(target);
  } finally {
    entries.close();
    purges.close();
  }
}
