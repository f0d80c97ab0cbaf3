require("report")
