import { openRedis, type RedisServer, RedisUnavailable, redisScript } from '../../../plugin-kit/net/index.ts';
import type { RedisOptions } from '../../../plugin-sdk/index.ts';
import { type StoredEntry, StoreUnavailable } from '../store/entry-store.ts';
import { preciseNow } from '../store/precise-now.ts';
import type { NotedPurge, PurgeLog } from '../store/purge-log.ts';

/** Purges that are known one by one; of older ones only the time is. */
const maxPurges = 256;
/** Milliseconds that a purge is known. A response that took longer is not stored. */
const knownFor = 600_000;
/** Times are those of Redis, in microseconds, so that clocks of nodes need not agree. */
const now = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
`;

/**
 * KEYS: a sorted set of purges by time. ARGV: the purge, milliseconds to keep it, maximum number.
 * `i` (everything) takes the place of those that are too many.
 */
const noteScript = redisScript(`${now}
local noted = redis.pcall('ZADD', KEYS[1], now, ARGV[1])
if type(noted) == 'table' and noted.err then
  redis.call('DEL', KEYS[1])
  redis.call('ZADD', KEYS[1], now, ARGV[1])
end
local extra = redis.call('ZCARD', KEYS[1]) - tonumber(ARGV[3])
if extra > 0 then
  local dropped = redis.call('ZPOPMIN', KEYS[1], extra + 1)
  local last = tonumber(dropped[#dropped])
  local known = tonumber(redis.call('ZSCORE', KEYS[1], 'i') or 0)
  redis.call('ZADD', KEYS[1], math.max(last, known), 'i')
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`);

/** KEYS: the purges. ARGV: microseconds. Returns the purges of that time, each with how many microseconds ago it was. */
const sinceScript = redisScript(`${now}
local found = redis.pcall('ZRANGEBYSCORE', KEYS[1], now - tonumber(ARGV[1]), '+inf', 'WITHSCORES')
if found.err then return {} end
for i = 2, #found, 2 do found[i] = string.format('%.0f', now - tonumber(found[i])) end
return found
`);

/** Microseconds that a command may need to reach Redis. */
const travelTime = 10_000_000;

/** The last purges of a plugin instance in Redis. */
export function redisPurges(redis: RedisOptions, instance: string): PurgeLog {
  const server = openRedis(redis);
  const name = `sluicegate:proxy-cache:{${instance}}:purges`;
  return {
    async note(target) {
      await run(() => server.run(noteScript, [name], [memberOf(target), knownFor, maxPurges]));
    },
    async hasPurged(key, entry, sentAt) {
      const age = preciseNow() - sentAt;
      if (age > knownFor) return true;
      const found = await run(() => server.run(sinceScript, [name], [Math.ceil(age * 1000) + travelTime]));
      const purges = Array.isArray(found) ? found.map(String) : [];
      // Redis has answered before now, so the request is not older than this by its clock.
      const bound = (preciseNow() - sentAt) * 1000;
      return purges.some((text, at) => at % 2 === 0 && Number(purges[at + 1]) <= bound && covers(text, key, entry));
    },
    close: () => server.close(),
  };
}

function memberOf(target: NotedPurge): string {
  if ('key' in target) return `k${target.key}`;
  if ('tag' in target) return `t${target.tag}`;
  return 'prefix' in target ? `p${target.prefix}` : 'i';
}

function covers(member: string, key: string, { tags, url }: Pick<StoredEntry, 'tags' | 'url'>): boolean {
  const text = member.slice(1);
  switch (member[0]) {
    case 'k':
      return text === key;
    case 't':
      return tags.includes(text);
    case 'p':
      return url.startsWith(text);
    default:
      return true;
  }
}

async function run(work: () => ReturnType<RedisServer['run']>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof RedisUnavailable ? new StoreUnavailable(error.message) : error;
  }
}
