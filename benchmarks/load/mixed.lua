-- Ten requests of five kinds, one after the other. Arguments: the values of the headers apikey, of a bearer token and of basic
-- credentials.
require("report")
local messages, at = {}, 0
function init(args)
  local function add(count, method, path, headers, body)
    local message = wrk.format(method, path, headers, body)
    for _ = 1, count do messages[#messages + 1] = message end
  end
  local order = '{"customer":"Ada","items":[' .. string.rep('{"sku":"a-1","count":2},', 40) .. '{"sku":"z","count":1}]}'
  add(5, "GET", "/items/42?page=2", { ["apikey"] = args[1], ["Origin"] = "https://shop.example" })
  add(2, "GET", "/profile", { ["Authorization"] = "Bearer " .. args[2] })
  add(1, "POST", "/orders", { ["Authorization"] = "Basic " .. args[3], ["Content-Type"] = "application/json" }, order)
  add(1, "GET", "/catalogue", {})
  add(1, "GET", "/people.json", {})
end
function request()
  -- 3 and 10 have no common divisor, so every message has its turn, and equal ones are not neighbours.
  at = (at + 3) % #messages
  return messages[at + 1]
end
