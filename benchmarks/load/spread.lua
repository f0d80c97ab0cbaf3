-- Requests spread over numbered paths: the argument is how many there are.
require("report")
local count, at = 1, 0
function init(args)
  count = tonumber(args[1])
end
function request()
  at = (at + 7919) % count
  return wrk.format("GET", "/r/" .. at)
end
