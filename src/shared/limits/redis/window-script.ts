import { redisScript } from '../../redis/redis-script.ts';

/**
 * Lua, run by Redis as one atomic step: checks all windows of one key, and takes from all of them or from none. The
 * clock is Redis's own: the clocks of the nodes differ, and two nodes that disagree on the end of a window would accept
 * more around its edge.
 *
 * KEYS[1]: a hash; for each period `<period>:s` (start of its window, in milliseconds since the epoch), `<period>:u`
 * (used in it), `<period>:p` (used in the window before).
 *
 * ARGV: take|add|peek, cost, 1 for sliding windows, milliseconds since the epoch or '' for Redis's clock, then a period
 * and its limit for each window.
 *
 * Returns the number of the first window that is used up (0: none) and the time, then start, end, used before and used
 * for each window.
 *
 * A clock that is set back by less than a window does not open an old window again: the newer one stays.
 */
export const windowScript = redisScript(`
local lengths = { second = 1000, minute = 60000, hour = 3600000, day = 86400000 }
local day = lengths.day
local floor = math.floor

-- Days since the epoch of the first of a month, which may lie outside of 1..12.
local function month_day(year, month)
  year = year + floor((month - 1) / 12)
  month = (month - 1) % 12 + 1
  -- Years that begin in March, so that a leap day is the last of its year.
  if month <= 2 then year = year - 1 end
  local days = 365 * year + floor(year / 4) - floor(year / 100) + floor(year / 400)
  return days + floor((153 * ((month + 9) % 12) + 2) / 5) - 719468
end

local function civil(days)
  local year = 1970 + floor(days / 365.2425)
  if month_day(year, 1) > days then year = year - 1 end
  if month_day(year + 1, 1) <= days then year = year + 1 end
  local month = 1 + floor((days - month_day(year, 1)) / 31)
  if month_day(year, month + 1) <= days then month = month + 1 end
  return year, month
end

local function window(period, at)
  local length = lengths[period]
  if length then
    local start = at - at % length
    return start, start + length
  end
  local year, month = civil(floor(at / day))
  if period == 'year' then return month_day(year, 1) * day, month_day(year + 1, 1) * day end
  return month_day(year, month) * day, month_day(year, month + 1) * day
end

local key, mode, cost, sliding, now = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1', tonumber(ARGV[4])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + floor(time[2] / 1000)
end

local names = {}
for i = 5, #ARGV, 2 do
  local period = ARGV[i]
  names[#names + 1] = period .. ':s'
  names[#names + 1] = period .. ':u'
  names[#names + 1] = period .. ':p'
end
local stored = redis.call('HMGET', key, unpack(names))

local windows, violated, expiry = {}, 0, 0
for i = 1, (#ARGV - 4) / 2 do
  local period, limit = ARGV[3 + 2 * i], tonumber(ARGV[4 + 2 * i])
  local start, finish = window(period, now)
  local known, used, before = tonumber(stored[3 * i - 2]), tonumber(stored[3 * i - 1]) or 0, tonumber(stored[3 * i]) or 0
  local fresh = known ~= start
  if fresh then
    if known == finish then
      start, finish = window(period, known)
      fresh = false
    elseif known and known == window(period, start - 1) then
      used, before = 0, used
    else
      used, before = 0, 0
    end
  end
  local seen = used
  if sliding then seen = used + before * math.min(1, (finish - now) / (finish - start)) end
  if violated == 0 and seen + cost > limit then violated = i end
  if fresh then expiry = math.max(expiry, finish + (sliding and finish - start or 0) - now) end
  windows[i] = { period, start, finish, before, used, fresh }
end

if mode == 'add' or (mode == 'take' and violated == 0) then
  local fields = {}
  for _, w in ipairs(windows) do
    w[5] = w[5] + cost
    if w[6] then
      fields[#fields + 1] = w[1] .. ':s'
      fields[#fields + 1] = w[2]
      fields[#fields + 1] = w[1] .. ':p'
      fields[#fields + 1] = w[4]
    end
    fields[#fields + 1] = w[1] .. ':u'
    fields[#fields + 1] = w[5]
  end
  redis.call('HSET', key, unpack(fields))
  if expiry > 0 and redis.call('PTTL', key) < expiry then redis.call('PEXPIRE', key, floor(expiry) + 1000) end
end

local answer = { violated, now }
for _, w in ipairs(windows) do
  answer[#answer + 1] = w[2]
  answer[#answer + 1] = w[3]
  answer[#answer + 1] = string.format('%.17g', w[4])
  answer[#answer + 1] = string.format('%.17g', w[5])
end
return answer
`);
