-- A client address with every request. Arguments: how many different ones there are, and the number of the first.
require("report")
local count, first, at = 1, 0, 0
function init(args)
  count, first = tonumber(args[1]), tonumber(args[2] or 0)
end
function request()
  at = (at + 7919) % count
  local address = first + at
  wrk.headers["X-Forwarded-For"] = "10." .. math.floor(address / 65536) .. "." .. math.floor(address / 256) % 256 .. "." .. address % 256
  return wrk.format()
end
