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
NUMBER(PROFIL_IOC_SESSION, 0xb904);
NUMBER(PROFIL_IOC_JOIN, 0xb905);
NUMBER(PROFIL_IOC_ATTACH, 0xb906);
NUMBER(PROFIL_IOC_OBJECT, 0xb907);

SIZE(profil_ioc_query, 64);
AT(profil_ioc_query, size, 0);
AT(profil_ioc_query, flags, 4);
AT(profil_ioc_query, out_abi, 8);
AT(profil_ioc_query, out_features, 12);
AT(profil_ioc_query, out_tick_ns, 16);
AT(profil_ioc_query, out_tick_hz, 24);
AT(profil_ioc_query, out_hook, 28);
AT(profil_ioc_query, out_hooks_lost, 32);
AT(profil_ioc_query, out_regions_max, 36);
AT(profil_ioc_query, out_timer_rate_max, 40);
AT(profil_ioc_query, out_start_flags, 44);
AT(profil_ioc_query, out_region_flags, 48);
AT(profil_ioc_query, out_sources, 52);
AT(profil_ioc_query, out_session_flags, 56);
AT(profil_ioc_query, out_session_sources, 60);

SIZE(profil_region, 32);
AT(profil_region, buf_uptr, 0);
AT(profil_region, bytes, 8);
AT(profil_region, offset, 16);
AT(profil_region, scale, 24);
AT(profil_region, flags, 28);

SIZE(profil_ioc_start, 64);
AT(profil_ioc_start, size, 0);
AT(profil_ioc_start, flags, 4);
AT(profil_ioc_start, region_num, 8);
AT(profil_ioc_start, region_len, 12);
AT(profil_ioc_start, regions_uptr, 16);
AT(profil_ioc_start, rate, 24);
AT(profil_ioc_start, source, 28);
AT(profil_ioc_start, jitter, 32);
AT(profil_ioc_start, __reserved, 36);
AT(profil_ioc_start, period_ns, 40);
AT(profil_ioc_start, out_anchor, 48);
AT(profil_ioc_start, out_cookie, 56);

SIZE(profil_ioc_stop, 16);
AT(profil_ioc_stop, size, 0);
AT(profil_ioc_stop, flags, 4);
AT(profil_ioc_stop, cookie, 8);

SIZE(profil_ioc_stats, 200);
AT(profil_ioc_stats, size, 0);
AT(profil_ioc_stats, flags, 4);
AT(profil_ioc_stats, out_state, 8);
AT(profil_ioc_stats, out_rate, 12);
AT(profil_ioc_stats, out_ticks, 16);
AT(profil_ioc_stats, out_not_due, 24);
AT(profil_ioc_stats, out_in_range, 32);
AT(profil_ioc_stats, out_outside, 40);
AT(profil_ioc_stats, out_saturated, 48);
AT(profil_ioc_stats, out_pending, 56);
AT(profil_ioc_stats, out_lost, 64);
AT(profil_ioc_stats, out_lost_full, 72);
AT(profil_ioc_stats, out_lost_stopped, 80);
AT(profil_ioc_stats, out_lost_exit, 88);
AT(profil_ioc_stats, out_lost_fault, 96);
AT(profil_ioc_stats, out_lost_denied, 104);
AT(profil_ioc_stats, out_lost_unready, 112);
AT(profil_ioc_stats, out_lost_contended, 120);
AT(profil_ioc_stats, out_deferred, 128);
AT(profil_ioc_stats, out_borrowed, 136);
AT(profil_ioc_stats, out_forks_missed, 144);
AT(profil_ioc_stats, out_fault_addr, 152);
AT(profil_ioc_stats, out_system, 160);
AT(profil_ioc_stats, out_source, 168);
AT(profil_ioc_stats, out_reserved, 172);
AT(profil_ioc_stats, cookie, 176);
AT(profil_ioc_stats, out_cookie, 184);
AT(profil_ioc_stats, out_period_ns, 192);

SIZE(profil_ioc_session, 48);
AT(profil_ioc_session, size, 0);
AT(profil_ioc_session, flags, 4);
AT(profil_ioc_session, slots, 8);
AT(profil_ioc_session, processes, 12);
AT(profil_ioc_session, objects, 16);
AT(profil_ioc_session, rate, 20);
AT(profil_ioc_session, source, 24);
AT(profil_ioc_session, jitter, 28);
AT(profil_ioc_session, out_bytes, 32);
AT(profil_ioc_session, out_fd, 40);
AT(profil_ioc_session, __reserved, 44);

SIZE(profil_ioc_join, 8);
AT(profil_ioc_join, size, 0);
AT(profil_ioc_join, flags, 4);

SIZE(profil_ioc_attach, 16);
AT(profil_ioc_attach, size, 0);
AT(profil_ioc_attach, flags, 4);
AT(profil_ioc_attach, pid, 8);
AT(profil_ioc_attach, __reserved, 12);

SIZE(profil_ioc_object, 32);
AT(profil_ioc_object, size, 0);
AT(profil_ioc_object, flags, 4);
AT(profil_ioc_object, object, 8);
AT(profil_ioc_object, out_fd, 12);
AT(profil_ioc_object, path_uptr, 16);
AT(profil_ioc_object, path_len, 24);
AT(profil_ioc_object, out_path_len, 28);

SIZE(profil_session_page, 184);
AT(profil_session_page, size, 0);
AT(profil_session_page, abi, 4);
AT(profil_session_page, slots_offset, 8);
AT(profil_session_page, processes_offset, 16);
AT(profil_session_page, objects_offset, 24);
AT(profil_session_page, slot_len, 32);
AT(profil_session_page, slots, 36);
AT(profil_session_page, process_len, 40);
AT(profil_session_page, processes, 44);
AT(profil_session_page, object_len, 48);
AT(profil_session_page, objects, 52);
AT(profil_session_page, state, 56);
AT(profil_session_page, members, 60);
AT(profil_session_page, processes_used, 64);
AT(profil_session_page, objects_used, 68);
AT(profil_session_page, not_due, 72);
AT(profil_session_page, exec, 80);
AT(profil_session_page, full, 88);
AT(profil_session_page, full_objects, 96);
AT(profil_session_page, hinted, 104);
AT(profil_session_page, borrowed, 112);
AT(profil_session_page, execs_denied, 120);
AT(profil_session_page, forks_missed, 128);
AT(profil_session_page, full_kernel, 136);
AT(profil_session_page, idle, 144);
AT(profil_session_page, kthreads, 152);
AT(profil_session_page, interrupts, 160);
AT(profil_session_page, began_ns, 168);
AT(profil_session_page, ended_ns, 176);

SIZE(profil_slot, 32);
AT(profil_slot, place, 0);
AT(profil_slot, user, 8);
AT(profil_slot, system, 16);
AT(profil_slot, object, 24);
AT(profil_slot, process, 28);

SIZE(profil_process, 56);
AT(profil_process, pid, 0);
AT(profil_process, parent, 4);
AT(profil_process, images, 8);
AT(profil_process, state, 12);
AT(profil_process, comm, 16);
AT(profil_process, user, 32);
AT(profil_process, system, 40);
AT(profil_process, cgroup, 48);

SIZE(profil_object_entry, 24);
AT(profil_object_entry, dev, 0);
AT(profil_object_entry, ino, 8);
AT(profil_object_entry, generation, 16);
AT(profil_object_entry, kind, 20);
