import type { RedisOptions } from '../../plugin-sdk/redis-options.ts';
import { addressOf, commandTimeoutOf, connectionTo, connectRedis } from './connect.ts';
import { RedisCluster } from './redis-cluster.ts';
import type { RedisLink } from './redis-link.ts';
import { connectMaster } from './sentinel.ts';
import { SingleRedis } from './single-redis.ts';

/*
 * The one client of Redis, for limiters and plugins.
 *
 *   connect.ts        opens one connection, with TLS and passwords, within a time
 *   redis-node.ts     one server: fails at once while it is unavailable, connects again in the background
 *   sentinel.ts       finds the current master
 *   redis-cluster.ts  finds the node of a key (key-slot.ts, slot-map.ts), follows redirections
 *   redis-link.ts     what users see; single-redis.ts and redis-cluster.ts implement it
 *   acquire-redis.ts  one link per worker and configuration
 */

/** The purpose of a link: bodies have their own, so that no counter waits for them. */
export type RedisUse = 'counters' | 'bodies';

/** Whether the configuration says where Redis is. */
export function hasRedisServer({ host, sentinel_nodes: sentinels, cluster_nodes: cluster }: RedisOptions): boolean {
  return host !== null || (sentinels ?? []).length > 0 || (cluster ?? []).length > 0;
}

const links = new Map<string, { readonly link: RedisLink; users: number }>();

/**
 * This worker's link to these servers with these credentials. Nothing is connected before the first script. Each call needs
 * one call of `releaseRedis`.
 *
 * @throws TypeError if the configuration names no server.
 */
export function acquireRedis(options: RedisOptions, use: RedisUse = 'counters'): RedisLink {
  if (!hasRedisServer(options)) throw new TypeError('a Redis server has a host, Sentinels or cluster nodes');
  const identity = identityOf(options, use);
  let held = links.get(identity);
  if (held === undefined) {
    held = { link: createLink(options), users: 0 };
    links.set(identity, held);
  }
  held.users++;
  return held.link;
}

export function releaseRedis(options: RedisOptions, use: RedisUse = 'counters'): void {
  const identity = identityOf(options, use);
  const held = links.get(identity);
  if (held === undefined || --held.users > 0) return;
  links.delete(identity);
  held.link.close();
}

function identityOf(options: RedisOptions, use: RedisUse): string {
  return JSON.stringify([use, Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1))]);
}

function createLink(options: RedisOptions): RedisLink {
  const { cluster_nodes: cluster, sentinel_nodes: sentinels } = options;
  if (cluster != null && cluster.length > 0) {
    return new RedisCluster({
      seeds: cluster.map(({ ip, port }) => ({ host: ip, port })),
      open: (endpoint) => connectRedis({ ...connectionTo(endpoint, options), database: 0 }),
      maxRedirections: options.cluster_max_redirections ?? 5,
      commandTimeout: commandTimeoutOf(options),
    });
  }
  if (sentinels != null && sentinels.length > 0) {
    return new SingleRedis(`Redis master ${options.sentinel_master}`, () => connectMaster(options));
  }
  const endpoint = { host: options.host ?? 'localhost', port: options.port };
  return new SingleRedis(`Redis ${addressOf(endpoint)}`, () => connectRedis(connectionTo(endpoint, options)));
}
