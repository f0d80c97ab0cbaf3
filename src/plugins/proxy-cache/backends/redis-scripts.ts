import { redisScript } from '../../../plugin-kit/net/index.ts';

/*
 * Lua scripts; each is one atomic step in Redis. A plugin instance has these keys; in a cluster, each of its partitions has
 * them, with a hash tag of its own, so that the entries of an instance are on all nodes:
 *
 *   e:<key>  an entry, a hash: `m` (see entry-format.ts), `b` (body), `t` (tags), `u` (its member of the next two sets)
 *   urls     a sorted set of `<url>NUL<key>`, all with score 0, so sorted by bytes: for purges by prefix
 *   ends     a sorted set of the same members by the time at which their entries expire: removes expired ones
 *   t:<tag>  a sorted set of keys by the time at which their entries expire
 *   f:<key>  the holder of the fetch lock
 *
 * All of them expire with the last of their entries. Times are those of Redis, in milliseconds.
 */

const common = `
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Replaces a value of another type under the name of an index.
local function note(key, score, member, ttl)
  local done = redis.pcall('ZADD', key, score, member)
  if type(done) == 'table' and done.err then
    if not string.find(done.err, 'WRONGTYPE', 1, true) then error(done.err, 0) end
    redis.call('DEL', key)
    redis.call('ZADD', key, score, member)
  end
  if redis.call('PTTL', key) < ttl then redis.call('PEXPIRE', key, ttl) end
end
`;

/**
 * KEYS: entry. ARGV: maximum bytes of `m` and of `b`.
 * Returns both; nil: there is no entry, or a value that is too large or has another type.
 */
export const getScript = redisScript(`
for place, field in ipairs({ 'm', 'b' }) do
  local size = redis.pcall('HSTRLEN', KEYS[1], field)
  if type(size) ~= 'number' or size > tonumber(ARGV[place]) then return false end
  if place == 1 and size == 0 then return false end
end
return redis.call('HMGET', KEYS[1], 'm', 'b')
`);

/**
 * KEYS: entry, urls, ends, the sets of its tags. ARGV: key, milliseconds to live, m, b, t, u.
 * Writes the indexes first: an entry that is in no index could not be purged.
 */
export const putScript = redisScript(`${common}
local ttl = tonumber(ARGV[2])
local time = now()
local finish = time + ttl
local before = redis.pcall('HGET', KEYS[1], 'u')
if type(before) == 'string' and before ~= ARGV[6] then
  redis.pcall('ZREM', KEYS[2], before)
  redis.pcall('ZREM', KEYS[3], before)
end
note(KEYS[2], 0, ARGV[6], ttl)
note(KEYS[3], finish, ARGV[6], ttl)
for i = 4, #KEYS do
  note(KEYS[i], finish, ARGV[1], ttl)
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', time - 1)
end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'm', ARGV[3], 'b', ARGV[4], 't', ARGV[5], 'u', ARGV[6])
redis.call('PEXPIRE', KEYS[1], ttl)
local expired = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', time - 1, 'LIMIT', 0, 64)
if #expired > 0 then
  redis.call('ZREM', KEYS[2], unpack(expired))
  redis.call('ZREM', KEYS[3], unpack(expired))
end
return 1
`);

/** KEYS: entry, urls, ends. Returns the number of removed entries. */
export const removeScript = redisScript(`
local member = redis.pcall('HGET', KEYS[1], 'u')
if type(member) == 'string' then
  redis.pcall('ZREM', KEYS[2], member)
  redis.pcall('ZREM', KEYS[3], member)
end
return redis.call('DEL', KEYS[1])
`);

/**
 * KEYS: the set of the tag, urls, ends. ARGV: prefix of the names of entries, the tag between NULs, maximum number of keys.
 * Returns the number of keys in the set that were read, and of entries that were removed: a key may have a newer entry.
 */
export const removeTaggedScript = redisScript(`
local keys = redis.pcall('ZPOPMIN', KEYS[1], ARGV[3])
if keys.err then return { 0, 0 } end
local removed = 0
for i = 1, #keys, 2 do
  local name = ARGV[1] .. keys[i]
  local entry = redis.pcall('HMGET', name, 't', 'u')
  if entry[1] and string.find(entry[1], ARGV[2], 1, true) then
    removed = removed + redis.call('DEL', name)
    if entry[2] then
      redis.pcall('ZREM', KEYS[2], entry[2])
      redis.pcall('ZREM', KEYS[3], entry[2])
    end
  end
end
return { #keys / 2, removed }
`);

/**
 * KEYS: urls, ends. ARGV: prefix of the names of entries, prefix of the URL, maximum number of members.
 * Returns the number of members and of entries that were removed: some entries had expired. No URL contains the byte 255.
 */
export const removePrefixedScript = redisScript(`
local from, to = '-', '+'
if ARGV[2] ~= '' then from, to = '[' .. ARGV[2], '(' .. ARGV[2] .. string.char(255) end
local members = redis.pcall('ZRANGEBYLEX', KEYS[1], from, to, 'LIMIT', 0, ARGV[3])
if members.err then return { 0, 0 } end
local removed = 0
for _, member in ipairs(members) do
  removed = removed + redis.call('DEL', ARGV[1] .. string.sub(member, -64))
  redis.call('ZREM', KEYS[1], member)
  redis.pcall('ZREM', KEYS[2], member)
end
return { #members, removed }
`);

/** KEYS: instances. ARGV: instance, milliseconds until its last entry expires. */
export const noteInstanceScript = redisScript(`${common}
local ttl = tonumber(ARGV[2])
local known = redis.pcall('ZSCORE', KEYS[1], ARGV[1])
note(KEYS[1], math.max(now() + ttl, type(known) == 'string' and tonumber(known) or 0), ARGV[1], ttl)
return 1
`);

/** KEYS: instances. Returns the ids of the instances that may have entries. */
export const instancesScript = redisScript(`${common}
local ids = redis.pcall('ZRANGEBYSCORE', KEYS[1], now(), '+inf')
if ids.err then return {} end
return ids
`);

/**
 * KEYS: lock, entry. ARGV: name of the caller, milliseconds of the lease, the checksum of the entry that the caller has seen
 * ('': none). Returns 0 if the caller holds the lock, or the key has another type; -1 if there is another entry by now: it was
 * stored since the lookup; otherwise the remaining milliseconds of the lease, and the name of the holder.
 */
export const acquireLockScript = redisScript(`
local entry = redis.pcall('HGET', KEYS[2], 'm')
if type(entry) == 'string' and string.sub(entry, 5, 8) ~= ARGV[3] then return { -1 } end
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return { 0 } end
local left, holder = redis.call('PTTL', KEYS[1]), redis.pcall('GET', KEYS[1])
if left < 0 or type(holder) ~= 'string' then return { 0 } end
return { math.max(1, left), holder }
`);

/** KEYS: lock. ARGV: name of the holder. */
export const releaseLockScript = redisScript(`
if redis.pcall('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`);

/** KEYS: lock. ARGV: name of the holder. Returns 1 while it holds the lock. */
export const lockHeldScript = redisScript(`
if redis.pcall('GET', KEYS[1]) == ARGV[1] then return 1 end
return 0
`);
