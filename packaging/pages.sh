#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Renames our profil(3) where a distribution has one, the C library's: then it is in section
# 3profil, and the other pages refer to that.
#
#   packaging/pages.sh FOLDER	with pages in it, or in man1 to man7 below it
set -eu

find "$1" -name '*.[0-9]' -exec sed -E -i 's/^(\.Dt PROFIL|\.Xr profil) 3( |$)/\1 3profil\2/' {} +
find "$1" -name profil.3 -exec mv {} {}profil \;
