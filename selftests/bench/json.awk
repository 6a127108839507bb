# SPDX-License-Identifier: GPL-2.0-only
# awk -f json.awk: what a guest prints, with one object a line

BEGIN { print "{\n\"licence\": \"SPDX-License-Identifier: GPL-2.0-only\"," }
{ gsub("\r", "") }
$1 == "release" && !named++ { printf "\"release\": \"%s\"", $2 }
NF == 3 { printf ",\n\"%s\": { \"value\": %d, \"of\": %d }", $1, $2, $3 }
END { print "\n}" }
