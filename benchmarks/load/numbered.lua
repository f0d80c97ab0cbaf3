-- A header whose value counts: name, prefix and how many values there are.
require("report")
local name, prefix, count, at = "", "", 1, 0
function init(args)
  name, prefix, count = args[1], args[2], tonumber(args[3])
end
function request()
  at = (at + 7919) % count
  wrk.headers[name] = prefix .. string.format("%07d", at)
  return wrk.format()
end
