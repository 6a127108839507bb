// SPDX-License-Identifier: GPL-2.0-only
/*
 * The binary interface, as numbers.  run.sh compiles this for five
 * architectures, with -Wpadded: a hole is an error as well.  A number may be
 * added here when a structure grows at its end; none may ever change.
 */
#include <stddef.h>
#include <linux/profil.h>

#define SIZE(type, bytes) \
	_Static_assert(sizeof(struct type) == (bytes), #type)
#define AT(type, member, byte) \
	_Static_assert(offsetof(struct type, member) == (byte), #type "." #member)
#define NUMBER(name, value) \
	_Static_assert((name) == (value), #name)

NUMBER(PROFIL_IOC_QUERY, 0xb900);
NUMBER(PROFIL_IOC_START, 0xb901);
NUMBER(PROFIL_IOC_STOP, 0xb902);
NUMBER(PROFIL_IOC_STATS, 0xb903);

SIZE(profil_query, 56);
AT(profil_query, size, 0);
AT(profil_query, flags, 4);
AT(profil_query, out_abi, 8);
AT(profil_query, out_features, 12);
AT(profil_query, out_tick_ns, 16);
AT(profil_query, out_tick_hz, 24);
AT(profil_query, out_hook, 28);
AT(profil_query, out_hooks_lost, 32);
AT(profil_query, out_regions_max, 36);
AT(profil_query, out_timer_rate_max, 40);
AT(profil_query, out_start_flags, 44);
AT(profil_query, out_region_flags, 48);
AT(profil_query, out_sources, 52);

SIZE(profil_region, 32);
AT(profil_region, buf_uptr, 0);
AT(profil_region, bytes, 8);
AT(profil_region, offset, 16);
AT(profil_region, scale, 24);
AT(profil_region, flags, 28);

SIZE(profil_start, 64);
AT(profil_start, size, 0);
AT(profil_start, flags, 4);
AT(profil_start, region_num, 8);
AT(profil_start, region_len, 12);
AT(profil_start, regions_uptr, 16);
AT(profil_start, rate, 24);
AT(profil_start, source, 28);
AT(profil_start, jitter, 32);
AT(profil_start, __reserved, 36);
AT(profil_start, period_ns, 40);
AT(profil_start, out_anchor, 48);
AT(profil_start, out_cookie, 56);

SIZE(profil_stop, 16);
AT(profil_stop, size, 0);
AT(profil_stop, flags, 4);
AT(profil_stop, cookie, 8);

SIZE(profil_stats, 200);
AT(profil_stats, size, 0);
AT(profil_stats, flags, 4);
AT(profil_stats, out_state, 8);
AT(profil_stats, out_rate, 12);
AT(profil_stats, out_ticks, 16);
AT(profil_stats, out_not_due, 24);
AT(profil_stats, out_in_range, 32);
AT(profil_stats, out_outside, 40);
AT(profil_stats, out_saturated, 48);
AT(profil_stats, out_pending, 56);
AT(profil_stats, out_lost, 64);
AT(profil_stats, out_lost_full, 72);
AT(profil_stats, out_lost_stopped, 80);
AT(profil_stats, out_lost_exit, 88);
AT(profil_stats, out_lost_fault, 96);
AT(profil_stats, out_lost_denied, 104);
AT(profil_stats, out_lost_unready, 112);
AT(profil_stats, out_lost_contended, 120);
AT(profil_stats, out_deferred, 128);
AT(profil_stats, out_borrowed, 136);
AT(profil_stats, out_forks_missed, 144);
AT(profil_stats, out_fault_addr, 152);
AT(profil_stats, out_system, 160);
AT(profil_stats, out_source, 168);
AT(profil_stats, out_reserved, 172);
AT(profil_stats, cookie, 176);
AT(profil_stats, out_cookie, 184);
AT(profil_stats, out_period_ns, 192);
