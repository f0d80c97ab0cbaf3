/**
 * Other servers and addresses: `sluicegate/plugin-kit/net`. `fetchDocument` fetches a document within a time and a size, `tryCall` calls a backend, `openRedis` runs
 * scripts on a Redis server, `ipSet` matches addresses and CIDR ranges, `ipTable` finds the value of an address.
 */

export { addressGroup } from '../../shared/util/net/address-group.ts';
export { type IpSet, ipSet } from '../../shared/util/net/ip-set.ts';
export { type FetchedDocument, type FetchOptions, fetchDocument, shownUrl } from './fetch-document.ts';
export { type IpRange, ipTable } from './ip-table.ts';
export { openRedis, type RedisScript, type RedisServer, RedisUnavailable, redisScript } from './redis.ts';
export { tryCall } from './try-call.ts';
