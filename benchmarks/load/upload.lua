-- A body of as many bytes as the argument says.
require("report")
local message
function init(args)
  message = wrk.format("POST", nil, nil, string.rep("x", tonumber(args[1])))
end
function request()
  return message
end
