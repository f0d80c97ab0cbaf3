-- A client address with every request; the argument is how many different ones there are.
require("report")
local count, at = 1, 0
function init(args)
  count = tonumber(args[1])
end
function request()
  at = (at + 7919) % count
  wrk.headers["X-Forwarded-For"] = "10." .. math.floor(at / 65536) .. "." .. math.floor(at / 256) % 256 .. "." .. at % 256
  return wrk.format()
end
