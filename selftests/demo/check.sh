#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# All tests of the demonstration; the last line says how many passed.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
"$here/../setup.sh" build vm check demo
exec "$here/../lib/prove.pl" 1 "$here/demo_test.sh" "$here/sqlite_test.sh"
