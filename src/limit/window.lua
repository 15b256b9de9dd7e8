-- The same sliding window as in memory-limiter.ts, but run atomically on the store and by its clock. Each
-- client has a list of timestamps, oldest first. While the clock is behind the newest one, that
-- timestamp counts as the current time, and the lag is added to the reported wait. Returns whether
-- the request is allowed, how many remain, and the wait in milliseconds.
local key, limit, window = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local is_counted = ARGV[3] == '1'
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local function at(index) return tonumber(redis.call('LINDEX', key, index) or nil) end

local now = math.max(clock, at(-1) or clock)
local used = redis.call('LLEN', key)
-- A binary search, because there may be as many timestamps as the limit allows.
local expired, high = 0, used
while expired < high do
  local middle = math.floor((expired + high) / 2)
  if now - at(middle) >= window then expired = middle + 1 else high = middle end
end
if expired > 0 then redis.call('LTRIM', key, expired, -1) end
used = used - expired
-- After the limit was lowered, several requests must leave before one more is allowed.
local last_to_leave = at(math.max(used - limit, 0)) or now

local allowed = used < limit
if allowed and is_counted then
  redis.call('RPUSH', key, string.format('%.0f', now))
  redis.call('PEXPIREAT', key, string.format('%.0f', now + window))
  used = used + 1
end
return { allowed and 1 or 0, math.max(limit - used, 0), last_to_leave + window - clock }
