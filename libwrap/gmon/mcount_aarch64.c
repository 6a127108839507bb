// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * What gcc -pg has each function call.  The compiler has put the arguments of
 * that function aside, but not for code that uses vector registers.
 */
#include "arcs.h"
#include "internal.h"

void _mcount(uintptr_t from);

PROFIL_API
void _mcount(uintptr_t from)
{
	libprofil_arcs_add(from, (uintptr_t)__builtin_return_address(0));
}
