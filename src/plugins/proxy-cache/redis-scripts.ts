import { redisScript } from '../../plugin-sdk/index.ts';

/*
 * Lua, each script one atomic step in Redis. An instance of the plugin has, under names of its own:
 *
 *   e:<key>  an entry, a hash: `m` (see entry-codec.ts), `b` (the body), `t` (its tags), `u` (its member of the two sets below)
 *   urls     a sorted set of `<url>NUL<key>`, all of score 0: in the order of bytes, for purges by prefix
 *   ends     the same members by the time at which their entries end, to let go those that are over
 *   t:<tag>  a sorted set of keys by the time at which their entries end
 *   f:<key>  who is fetching
 *
 * All of them expire with the last of their entries. Times are Redis's own, in milliseconds.
 */

const common = `
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- What stands at an index's name and is no index goes.
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
 * KEYS: entry. ARGV: most bytes of `m` and of `b`.
 * Returns both; nil: there is none, or something that is too large or no entry.
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
 * KEYS: entry, urls, ends, instances, the sets of its tags. ARGV: key, instance, milliseconds to live, m, b, t, u.
 * Indexes come first: an entry that is in none could not be purged.
 */
export const putScript = redisScript(`${common}
local ttl = tonumber(ARGV[3])
local time = now()
local finish = time + ttl
local before = redis.pcall('HGET', KEYS[1], 'u')
if type(before) == 'string' and before ~= ARGV[7] then
  redis.pcall('ZREM', KEYS[2], before)
  redis.pcall('ZREM', KEYS[3], before)
end
note(KEYS[2], 0, ARGV[7], ttl)
note(KEYS[3], finish, ARGV[7], ttl)
local known = redis.pcall('ZSCORE', KEYS[4], ARGV[2])
note(KEYS[4], math.max(finish, type(known) == 'string' and tonumber(known) or 0), ARGV[2], ttl)
for i = 5, #KEYS do
  note(KEYS[i], finish, ARGV[1], ttl)
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', time - 1)
end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'm', ARGV[4], 'b', ARGV[5], 't', ARGV[6], 'u', ARGV[7])
redis.call('PEXPIRE', KEYS[1], ttl)
local over = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', time - 1, 'LIMIT', 0, 64)
if #over > 0 then
  redis.call('ZREM', KEYS[2], unpack(over))
  redis.call('ZREM', KEYS[3], unpack(over))
end
return 1
`);

/** KEYS: entry, urls, ends. Returns how many there were. */
export const removeScript = redisScript(`
local member = redis.pcall('HGET', KEYS[1], 'u')
if type(member) == 'string' then
  redis.pcall('ZREM', KEYS[2], member)
  redis.pcall('ZREM', KEYS[3], member)
end
return redis.call('DEL', KEYS[1])
`);

/**
 * KEYS: the tag's set, urls, ends. ARGV: what the names of entries begin with, the tag between NULs, most keys.
 * Returns how many keys were looked at, and how many entries went: a key may have another entry by now.
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
 * KEYS: urls, ends. ARGV: what the names of entries begin with, the prefix, most members.
 * Returns how many members went, and how many entries: some were over. No URL has the byte 255.
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

/** KEYS: instances. Returns the ids of those that may have entries. */
export const instancesScript = redisScript(`${common}
local ids = redis.pcall('ZRANGEBYSCORE', KEYS[1], now(), '+inf')
if ids.err then return {} end
return ids
`);

/**
 * KEYS: flight, entry. ARGV: who asks, milliseconds of the lease, the checksum of the entry that the asker has seen ('': none).
 * Returns 0 when the asker leads, as it does where something else stands; -1 when there is another entry by now: a flight has
 * landed since the asker looked; else for how long the leader is trusted, and its name.
 */
export const boardScript = redisScript(`
local entry = redis.pcall('HGET', KEYS[2], 'm')
if type(entry) == 'string' and string.sub(entry, 5, 8) ~= ARGV[3] then return { -1 } end
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return { 0 } end
local left, leader = redis.call('PTTL', KEYS[1]), redis.pcall('GET', KEYS[1])
if left < 0 or type(leader) ~= 'string' then return { 0 } end
return { math.max(1, left), leader }
`);

/** KEYS: flight. ARGV: who leads. */
export const landScript = redisScript(`
if redis.pcall('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`);

/** KEYS: flight. ARGV: who led when it was boarded. Returns 1 while that flight is in the air. */
export const flyingScript = redisScript(`
if redis.pcall('GET', KEYS[1]) == ARGV[1] then return 1 end
return 0
`);
