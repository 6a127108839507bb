// SPDX-License-Identifier: GPL-2.0-only
/* Functions of 64 bytes one after the other, for records that are made by hand. */

#define FUNCTION(name)							\
	void name(void);						\
	__attribute__((noinline, noclone, aligned(64))) void name(void)	\
	{								\
		__asm__ volatile(".skip 32, 0x90");			\
	}

FUNCTION(a)
FUNCTION(b)
FUNCTION(c)
FUNCTION(d)
FUNCTION(end)

int main(void)
{
	return 0;
}
