// SPDX-License-Identifier: GPL-2.0-only
/* A use after free, for run.sh to see that coccinelle works.  Never built. */
static int planted(struct foo *p)
{
	kfree(p);
	return p->x;
}
