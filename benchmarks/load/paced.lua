-- Clients that wait between requests, so that latency is the server's and not that of a queue: the argument is the
-- mean pause in milliseconds.
require("report")
local pause = 20
function init(args)
  pause = tonumber(args[1])
  math.randomseed(42)
end
function delay()
  return math.random(1, 2 * pause)
end
