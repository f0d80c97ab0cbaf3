-- One header with every request: name and value are the arguments.
require("report")
function init(args)
  wrk.headers[args[1]] = args[2]
end
