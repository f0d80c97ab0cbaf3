-- A header whose values are the lines of a file, one after the other: name, prefix of each value, file.
require("report")
local name, prefix, values, at = "", "", {}, 0
function init(args)
  name, prefix = args[1], args[2]
  for line in io.lines(args[3]) do values[#values + 1] = line end
end
function request()
  at = at % #values + 1
  wrk.headers[name] = prefix .. values[at]
  return wrk.format()
end
