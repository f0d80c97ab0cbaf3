import { redisScript } from '../../redis/redis-script.ts';

/**
 * Lua, run by Redis as one atomic step: reports what one node has counted in some windows, and fetches what all others
 * have.
 *
 * KEYS: one hash for each window; `t` is what all nodes have counted, `n:<node>` what each of them has.
 *
 * ARGV: the node, then for each window what it has counted since its last report, and the milliseconds to keep the
 * hash.
 *
 * Returns for each window what the other nodes have counted.
 */
export const exchangeScript = redisScript(`
local own = 'n:' .. ARGV[1]
local answer = {}
for i, key in ipairs(KEYS) do
  local counted, ttl = ARGV[2 * i], ARGV[2 * i + 1]
  local mine = redis.call('HINCRBYFLOAT', key, own, counted)
  local total = redis.call('HINCRBYFLOAT', key, 't', counted)
  redis.call('PEXPIRE', key, ttl)
  answer[i] = string.format('%.17g', tonumber(total) - tonumber(mine))
end
return answer
`);
